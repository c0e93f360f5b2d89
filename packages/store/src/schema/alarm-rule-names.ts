/**
 * Members of an alarm rule: the names that rows and exports of release 0.1
 * have, with the current ones. Nothing else in the source has the old names.
 */
const names = {
  sendTo: "targets",
  tellsEnd: "notifyOnClear",
} as const;

/**
 * Replaces the names of release 0.1 in a stored alarm rule. Members with the
 * current names take precedence.
 * @param json the column `body_json`
 * @returns the same string if it has none of them
 * @throws SyntaxError if it is not JSON
 */
export function withCurrentNames(json: string): string {
  const body = JSON.parse(json) as Record<string, unknown> | null;
  if (typeof body !== "object" || body === null) return json;
  const old = Object.entries(names).filter(([name]) =>
    Object.hasOwn(body, name),
  );
  if (old.length === 0) return json;
  for (const [name, current] of old) {
    body[current] ??= body[name];
    delete body[name];
  }
  return JSON.stringify(body);
}
