import t from "tap";
import { Candidates } from "../src/session/candidates.js";

const address = (host: string) =>
  ({ scheme: "https", host, port: 443 }) as const;
const [first, second, third] = ["192.0.2.1", "192.0.2.2", "192.0.2.3"].map(
  address,
) as [
  ReturnType<typeof address>,
  ReturnType<typeof address>,
  ReturnType<typeof address>,
];

t.test("known are the members as they are now", async (t) => {
  const candidates = new Candidates([first]);
  t.ok(candidates.isKnown(first));
  t.notOk(candidates.isKnown(second));
  candidates.setDiscovered([first, second]);
  t.ok(candidates.isKnown(second), "a host has joined");
  t.notOk(candidates.mayFollow(third));
  candidates.prefer(third);
  t.ok(candidates.isKnown(third), "the coordinator");
  candidates.remove(third);
  t.notOk(candidates.isKnown(third));
  candidates.setDiscovered([first]);
  t.notOk(candidates.isKnown(second), "a host was ejected");
  t.notOk(candidates.mayFollow(second));
});
