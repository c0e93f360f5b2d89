import { XoError } from "@xo-server/model";

/** Why one parameter is invalid. */
export interface InputFault {
  readonly message: string;
  readonly value?: unknown;
}

/**
 * @param faults by location: `limit` of the query, `body.name_label`
 * @returns an error that REST reports as 422 with the faults
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
