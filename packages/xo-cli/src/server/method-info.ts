import { closest } from "fastest-levenshtein";
import { RequestError } from "../cli-error.js";
import type { Rpc } from "./rpc.js";

/** Result of `system.getMethodsInfo`. */
export interface MethodInfo {
  readonly description?: string;
  readonly permission?: string;
  readonly params?: Readonly<Record<string, ParameterInfo>>;
}

export interface ParameterInfo {
  readonly type?: string | readonly string[];
  readonly optional?: boolean;
  readonly default?: unknown;
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly ParameterInfo[];
  readonly items?: ParameterInfo;
  readonly properties?: Readonly<Record<string, ParameterInfo>>;
  readonly required?: readonly string[];
}

/** All operations of the server, by name. @throws RequestError */
export async function readMethods(
  rpc: Rpc,
): Promise<ReadonlyMap<string, MethodInfo>> {
  const all = await rpc.call("system.getMethodsInfo");
  return new Map(Object.entries(all as Record<string, MethodInfo>));
}

/** @throws RequestError UNKNOWN_METHOD */
export async function readMethod(rpc: Rpc, name: string): Promise<MethodInfo> {
  const all = await readMethods(rpc);
  const info = all.get(name);
  if (info !== undefined) return info;
  throw unknownMethod(all.keys(), name);
}

/** An error with the nearest name. */
export function unknownMethod(
  known: Iterable<string>,
  name: string,
): RequestError {
  const [noun] = name.split(".", 1);
  const nearest = closest(name, [...known]);
  const hint = `the nearest method is ${nearest}; see xo-cli methods ${noun}`;
  return new RequestError(
    `method not found: ${name}`,
    "UNKNOWN_METHOD",
    { name },
    hint,
  );
}

/** Such as `string`, `string|null`, `"RW"|"RO"`. */
export function typeOf(info: ParameterInfo): string {
  if (info.const !== undefined) return JSON.stringify(info.const);
  if (info.enum !== undefined)
    return info.enum.map((value) => JSON.stringify(value)).join("|");
  if (info.anyOf !== undefined) return info.anyOf.map(typeOf).join("|");
  return [info.type ?? "any"].flat().join("|");
}

/** One line: `vm.start id=<string> [host=<string>]`. */
export function usageOf(name: string, { params = {} }: MethodInfo): string {
  const words = Object.entries(params).map(([parameter, info]) => {
    const word = `${parameter}=<${typeOf(info)}>`;
    return info.optional === true || info.default !== undefined
      ? `[${word}]`
      : word;
  });
  return [name, ...words].join(" ");
}
