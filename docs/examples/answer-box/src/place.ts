// Finds a cited piece in its document.

export interface Place {
  start: number;
  end: number;
}

const APART = 400; // letters that a document may have between two lines of a fragment: what is not indexed

/**
 * Where a fragment stands in the document it was cut from, as UTF-16 offsets, or null. Only letters and digits are
 * compared, for markup and line breaks differ; failing the whole, its longest line is looked for, and the lines around
 * it are added as long as they are near.
 */
export function placeOf(content: string, fragment: string): Place | null {
  const document = lettersOf(content);
  const lines = fragment.split("\n").map((line) => lettersOf(line).text).filter(Boolean);
  const whole = lines.join("");
  for (const [wanted, index] of [[whole, -1] as const, ...lines.map((line, index) => [line, index] as const).sort(longestFirst)]) {
    let start = wanted ? document.text.indexOf(wanted) : -1;
    if (start < 0) continue;
    let end = start + wanted.length;
    for (const line of index < 0 ? [] : lines.slice(index + 1)) {
      const at = document.text.indexOf(line, end);
      if (at >= 0 && at - end <= APART) end = at + line.length;
    }
    for (const line of index < 0 ? [] : lines.slice(0, index).reverse()) {
      const at = start < line.length ? -1 : document.text.lastIndexOf(line, start - line.length);
      if (at >= 0 && start - at - line.length <= APART) start = at;
    }
    return { start: document.at[start]!, end: document.at[end - 1]! + 1 };
  }
  return null;
}

const longestFirst = ([one]: readonly [string, number], [other]: readonly [string, number]) => other.length - one.length;

/** The letters and digits of a text outside of tags, and the offset of each code unit of them. */
function lettersOf(text: string): { text: string; at: number[] } {
  const at: number[] = [];
  let letters = "";
  for (const { 0: found, index } of text.matchAll(/<\/?[a-z][^<>]*>|&#?\w+;|[\p{L}\p{N}]/giu)) {
    if (found.startsWith("<") || found.startsWith("&")) continue;
    for (let unit = 0; unit < found.length; unit++) at.push(index + unit);
    letters += found;
  }
  return { text: letters, at };
}
