// What the API's schema says of a value, in the words of its other refusals.
const words = [
  [/^expected number <= (\S+)$/, "must be at most $1"],
  [/^expected number >= (\S+)$/, "must be at least $1"],
  [/^expected length <= (\d+)$/, "must not be longer than $1 characters"],
  [/^expected length >= 1$/, "must not be empty"],
  [/^expected array length <= (\d+)$/, "must be $1 at most"],
  [/^expected string to match pattern \^https\?:\/\/$/, "must be an http or https URL"],
  [/^expected integer$/, "must be a whole number"],
  [/^expected number$/, "must be a number"],
];

export function plainly(message) {
  const known = words.find(([said]) => said.test(message));
  return known ? message.replace(...known) : message;
}
