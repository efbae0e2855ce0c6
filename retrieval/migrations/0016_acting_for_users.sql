-- A service with this right may ask for a user: it then sees what that user sees, and no more.
alter table principal add column acts_for_users boolean not null default false;
