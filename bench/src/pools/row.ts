/** Which way the pool is loaded: one bar of the chart, one line of the table. */
export interface Row {
  /** As the JSON file names it. */
  readonly mode: string;
  /** Where responses are parsed; `auto` lets the parser pool choose. */
  readonly place: Place;
  readonly kind: RowKind;
  /** Needs a pool that answers JSON in XML: hosts of the XenServer 6 and 7 time. */
  readonly legacy?: boolean;
}

type Place = "main" | "worker" | "auto";

type RowKind =
  | {
      readonly program: "ours";
      readonly transport: "auto" | "xml-rpc" | "json-in-xml" | "json-rpc";
      readonly xml: XmlReader;
    }
  | { readonly program: "download"; readonly way: "http" | "onread" | "parse" }
  | { readonly program: "peer"; readonly transport: "json-rpc" | "xml-rpc" };

/** The three ways to read XML that the parser pool offers. */
type XmlReader = "reader" | "expat" | "xmlrpc";

export const rows: readonly Row[] = [
  reference("download", "http"),
  reference("download:onread", "onread"),
  reference("download+parse", "parse"),
  ours("auto", "auto", "auto"),
  ...both("json-rpc", "json-rpc"),
  ...both("json-in-xml", "json-in-xml").map((row) => ({
    ...row,
    legacy: true,
  })),
  ...both("xml-rpc", "xml-rpc"),
  // node-expat is not made for worker threads.
  ours("xml-rpc:expat", "xml-rpc", "main", "expat"),
  ...both("xml-rpc:xmlrpc", "xml-rpc", "xmlrpc"),
  peer("json-rpc"),
  peer("xml-rpc"),
];

/** Each mode once, in a worker where there is a choice: `xml-rpc:expat` is for the main thread. */
export const smokeRows: readonly Row[] = rows.filter(
  ({ mode, place }) =>
    place !== "main" ||
    !rows.some((other) => other.mode === mode && other.place === "worker"),
);

/** `mode` and, where there is a choice, `place`: unique among the rows. */
export function rowName({ mode, place, kind }: Row): string {
  return kind.program === "ours" && place !== "auto"
    ? `${mode} ${place}`
    : mode;
}

/**
 * How many runs a row is worth: one that takes long is measured less often,
 * since its relative spread is small and its runs take minutes.
 */
export function runCount(firstMs: number, runs: number): number {
  if (firstMs > 10_000) return Math.min(runs, 2);
  if (firstMs > 4_000) return Math.min(runs, 3);
  return runs;
}

function reference(mode: string, way: "http" | "onread" | "parse"): Row {
  return { mode, place: "main", kind: { program: "download", way } };
}

function peer(transport: "json-rpc" | "xml-rpc"): Row {
  return {
    mode: `peer:xen-api:${transport}`,
    place: "main",
    kind: { program: "peer", transport },
  };
}

type OurTransport = Extract<RowKind, { program: "ours" }>["transport"];

function both(mode: string, transport: OurTransport, xml?: XmlReader): Row[] {
  return (["main", "worker"] as const).map((place) =>
    ours(mode, transport, place, xml),
  );
}

function ours(
  mode: string,
  transport: OurTransport,
  place: Place,
  xml: XmlReader = "reader",
): Row {
  return { mode, place, kind: { program: "ours", transport, xml } };
}
