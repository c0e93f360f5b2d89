import type { SampleObjects } from "./sample-objects.js";
import { largeValue, smallValue, type Schema } from "./parameter-values.js";

/** As system.getMethodsInfo reports it. */
export interface MethodInfo {
  readonly params: Readonly<Record<string, Schema>>;
}

/** One call to be measured. */
export interface OperationCall {
  readonly method: string;
  /** "required", "all", or the name of the parameter that is large. */
  readonly variant: string;
  /** Created when it is called: earlier calls may have created objects. */
  readonly params: () => Readonly<Record<string, unknown>>;
}

/** They end the connection, or change what all later calls find. */
const LAST =
  /^(session\.signOut|server\.(remove|disable|disconnect)|pool\.(disconnect|mergeInto|eject)|host\.(stop|restart|destroy|detach|forget|emergency|evacuate|enter|power|shut|reboot|disable)|token\.deleteOwn|user\.delete|configuration\.)/i;
/** What creates objects comes first: others use them. */
const FIRST = /\.(create|add|new)/i;

/**
 * Calls of all methods: with the required parameters, with all, and one for each
 * parameter that may be large.
 */
export function operationCalls(
  infos: Readonly<Record<string, MethodInfo>>,
  samples: SampleObjects,
): OperationCall[] {
  const rank = (method: string) =>
    LAST.test(method) ? 2 : FIRST.test(method) ? 0 : 1;
  return Object.entries(infos)
    .filter(([method]) => method !== "session.signOut")
    .toSorted(([a], [b]) => rank(a) - rank(b) || (a < b ? -1 : 1))
    .flatMap(([method, info]) => callsOf(method, info, samples));
}

function callsOf(
  method: string,
  { params }: MethodInfo,
  samples: SampleObjects,
): OperationCall[] {
  const strings = samples.stringsFor(method);
  const filled = (which: (schema: Schema) => boolean) =>
    Object.fromEntries(
      Object.entries(params)
        .filter(([, schema]) => which(schema))
        .map(([name, schema]) => [name, smallValue(schema, name, strings)]),
    );
  const isRequired = ({ optional }: Schema) => optional !== true;
  const large = Object.entries(params)
    .filter(
      ([name, schema]) => largeValue(schema, name, () => "x") !== undefined,
    )
    .map(([name, schema]) => ({
      method,
      variant: name,
      params: () => ({
        ...filled(isRequired),
        [name]: largeValue(schema, name, strings),
      }),
    }));
  const all = { method, variant: "all", params: () => filled(() => true) };
  const hasOptional = Object.values(params).some((one) => !isRequired(one));
  return [
    { method, variant: "required", params: () => filled(isRequired) },
    ...(hasOptional ? [all] : []),
    ...large,
  ];
}
