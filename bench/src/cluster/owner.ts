import { ownersOf, timeUntil } from "./lease-watch.js";
import { nameOf, type BenchGroup } from "./server-group.js";

/** The server with the most leases, and what it owns. */
export async function largestOwner(group: BenchGroup) {
  const owners = [...(await ownersOf(group.postgres))];
  const subjectsOf = (name: string) =>
    owners.filter(([, owner]) => owner === name).map(([subject]) => subject);
  const [first] = group.servers
    .map((server, i) => ({ server, subjects: subjectsOf(nameOf(i)), i }))
    .toSorted((a, b) => b.subjects.length - a.subjects.length);
  return first!;
}

/** @returns ms until other servers have all of them */
export async function timeUntilMoved(
  group: BenchGroup,
  { subjects, i }: { readonly subjects: readonly string[]; readonly i: number },
): Promise<number> {
  return timeUntil("new owners", async () => {
    const owners = await ownersOf(group.postgres);
    return subjects.every((subject) => {
      const owner = owners.get(subject);
      return owner !== undefined && owner !== nameOf(i);
    });
  });
}
