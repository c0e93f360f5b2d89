import { XapiFailure } from "../xapi-failure.js";

/** How far a client has read: generations of the database and of the messages. */
export interface Position {
  readonly database: number;
  readonly messages: number;
}

const BEGINNING: Position = { database: 0, messages: 0 };

/** Two numbers of 20 digits, as XAPI prints them. */
export function formatToken({ database, messages }: Position): string {
  return `${pad(database)},${pad(messages)}`;
}

function pad(value: number): string {
  const digits = String(Math.abs(value));
  return value < 0 ? `-${digits.padStart(19, "0")}` : digits.padStart(20, "0");
}

/**
 * As lenient as OCaml's Int64.of_string: `1,0`, `-1,-1` and `0x1,0` are tokens.
 *
 * @throws XapiFailure EVENT_FROM_TOKEN_PARSE_FAILURE
 */
export function parseToken(token: string): Position {
  if (token === "") return BEGINNING;
  const parts = token.split(",").map(parseInt64);
  const [database, messages] = parts;
  if (parts.length !== 2 || database === undefined || messages === undefined)
    throw new XapiFailure("EVENT_FROM_TOKEN_PARSE_FAILURE", [token]);
  return { database, messages };
}

function parseInt64(text: string): number | undefined {
  const match = /^(-?)(0x[0-9a-f]+|0o[0-7]+|0b[01]+|\d+)$/i.exec(text);
  if (match === null) return undefined;
  const value = BigInt(match[2]!) * (match[1] === "-" ? -1n : 1n);
  return BigInt.asIntN(64, value) === value ? Number(value) : undefined;
}
