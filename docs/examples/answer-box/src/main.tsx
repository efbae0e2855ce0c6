// Puts the box into the page.
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { AnswerBox } from "./AnswerBox";
import { connect } from "./client";

const root = document.getElementById("answer-box")!;
const { endpoint, namespaces, locale } = root.dataset;
const language = (locale ?? navigator.language).startsWith("ru") ? "ru" : "en";
// Your sign-in keeps the token somewhere; here it is the session of the tab. `make demo` lets this machine in without one.
const client = connect(endpoint ?? "/graphql", () => sessionStorage.getItem("contextql-token"));

createRoot(root).render(
  <StrictMode>
    <AnswerBox client={client} language={language} namespaces={namespaces?.split(" ") ?? null} />
  </StrictMode>,
);
