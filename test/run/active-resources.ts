/** A handle as a report of Node.js describes it. */
interface Handle {
  readonly type: string;
  readonly is_active: boolean;
  readonly is_referenced: boolean;
  /** Of a process. */
  readonly pid?: number;
  readonly localEndpoint?: Endpoint | null;
  readonly remoteEndpoint?: Endpoint | null;
  /** Of a timer: milliseconds. */
  readonly firesInMsFromNow?: number;
}

interface Endpoint {
  readonly ip4?: string;
  readonly ip6?: string;
  readonly port?: number;
}

/** What keeps this process alive: kinds with their number, then handles with processes, ports and times. */
export function activeResources(): string[] {
  const counts = new Map<string, number>();
  for (const kind of process.getActiveResourcesInfo())
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return [
    ...[...counts].map(([kind, count]) => `${count} ${kind}`),
    ...handles()
      .map(describe)
      .filter((text) => text !== ""),
  ];
}

function handles(): readonly Handle[] {
  // Otherwise the name of each address is looked up, which may block.
  const report = process.report as typeof process.report & {
    excludeNetwork: boolean;
  };
  report.excludeNetwork = true;
  const { libuv } = report.getReport() as unknown as { libuv: Handle[] };
  return libuv.filter((one) => one.is_active && one.is_referenced);
}

/** Empty: its kind says all. */
function describe(handle: Handle): string {
  const { type, pid, localEndpoint, remoteEndpoint } = handle;
  if (pid !== undefined) return `${type} ${pid}`;
  if (type === "timer") return `timer in ${handle.firesInMsFromNow} ms`;
  const ends = [localEndpoint, remoteEndpoint].flatMap((end) =>
    end?.port === undefined ? [] : `${end.ip4 ?? end.ip6}:${end.port}`,
  );
  return ends.length === 0 ? "" : `${type} ${ends.join(" to ")}`;
}
