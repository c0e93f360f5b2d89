import { fill, type Messages } from "../locale/messages.js";

/** The text of an error of a run or repository; the message of the server if there is none. */
export function failureText(
  failure: {
    readonly code?: string;
    readonly message: string;
    readonly data?: unknown;
  },
  text: Messages,
): string {
  return backupFailure(failure.code, failure.data, text) ?? failure.message;
}

/** @returns undefined: it is not an error of backups, or data of its text are missing */
export function backupFailure(
  code = "",
  data: unknown,
  { backup: { errors } }: Messages,
): string | undefined {
  const known = Object.hasOwn(errors, code)
    ? errors[code as keyof typeof errors]
    : undefined;
  if (known === undefined || typeof data !== "object" || data === null)
    return undefined;
  const values = Object.fromEntries(
    Object.entries(data).filter(([, value]) => typeof value === "string"),
  ) as Readonly<Record<string, string>>;
  const names = [...known.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!);
  return names.every((name) => name in values)
    ? fill(known, values)
    : undefined;
}
