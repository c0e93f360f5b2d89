import { parseArgs, type ParseArgsConfig } from "node:util";
import { UsageError } from "../bench.js";

type Options = NonNullable<ParseArgsConfig["options"]>;

type Arguments<Known extends Options> = ReturnType<
  typeof parseArgs<{ args: string[]; allowPositionals: true; options: Known }>
>;

/**
 * The command line of a bench: options as node:util knows them, and the words between them.
 * @throws UsageError for an option that is not there
 */
export function readArguments<const Known extends Options>(
  args: readonly string[],
  options: Known,
): Arguments<Known> {
  try {
    return parseArgs({ args: [...args], allowPositionals: true, options });
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

/** @throws UsageError for anything but a number of at least 0 */
export function readNumber(
  name: string,
  text: string | undefined,
): number | undefined {
  if (text === undefined) return undefined;
  const value = Number(text);
  if (text.trim() === "" || !Number.isFinite(value) || value < 0)
    throw new UsageError(`--${name} takes a number, not ${text}`);
  return value;
}

/** @throws UsageError for anything but a whole number from 1 on */
export function readRuns(text: string | undefined): number | undefined {
  const runs = readNumber("runs", text);
  if (runs !== undefined && (!Number.isSafeInteger(runs) || runs < 1))
    throw new UsageError(`--runs takes a number from 1 on, not ${text}`);
  return runs;
}
