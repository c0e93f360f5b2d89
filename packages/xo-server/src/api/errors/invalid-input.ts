import { XoError } from "@xo-server/model";

/** What is wrong with one thing that was given. */
export interface InputFault {
  readonly message: string;
  readonly value?: unknown;
}

/**
 * @param faults by where it stood: `limit` of the query, `body.name_label`
 * @returns an error that this door answers with 422 and the faults
 */
export function invalidInput(
  faults: Readonly<Record<string, InputFault>>,
): XoError {
  const entries = Object.entries(faults);
  const reason = entries
    .map(([name, { message }]) => `${name}: ${message}`)
    .join("; ");
  const errors = entries.map(([name, { message }]) => ({
    instancePath: `/${name}`,
    message,
  }));
  return new XoError("INVALID_PARAMETERS", { reason, errors, faults });
}
