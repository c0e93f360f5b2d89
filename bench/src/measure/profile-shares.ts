import { Session, type Profiler } from "node:inspector/promises";

const SAMPLE_US = 250;

/** Parts of the program by the files that do them. */
type Parts = Readonly<Record<string, RegExp>>;

/**
 * Samples the main thread while `work` runs.
 * @returns for each part its share of the time in which the thread did something, with what it called; 0..1
 */
export async function profileShares(
  parts: Parts,
  work: () => Promise<void>,
): Promise<Record<string, number>> {
  const session = new Session();
  session.connect();
  await session.post("Profiler.enable");
  await session.post("Profiler.setSamplingInterval", { interval: SAMPLE_US });
  await session.post("Profiler.start");
  await work();
  const { profile } = await session.post("Profiler.stop");
  session.disconnect();
  return sharesOf(profile, parts);
}

function sharesOf(profile: Profiler.Profile, parts: Parts) {
  const nodes = new Map(profile.nodes.map((node) => [node.id, node]));
  const parents = new Map<number, number>();
  for (const { id, children = [] } of profile.nodes)
    for (const child of children) parents.set(child, id);
  const counts = new Map(Object.keys(parts).map((name) => [name, 0]));
  let busy = 0;
  for (const sample of profile.samples ?? []) {
    if (nodes.get(sample)?.callFrame.functionName === "(idle)") continue;
    busy++;
    const urls: string[] = [];
    for (let at: number | undefined = sample; at; at = parents.get(at))
      urls.push(nodes.get(at)!.callFrame.url);
    for (const [name, files] of Object.entries(parts))
      if (urls.some((url) => files.test(url)))
        counts.set(name, counts.get(name)! + 1);
  }
  return Object.fromEntries(
    [...counts].map(([name, count]) => [name, count / Math.max(1, busy)]),
  );
}
