import t from "tap";
import { LimitHits } from "../src/limits/limit-hits.js";
import { SocketLimits } from "../src/api/json-rpc/socket-limits.js";

function setUp(maxSockets: number, perAddress: number, guests: number) {
  const hits = new LimitHits();
  const limits = new SocketLimits({
    maxSockets,
    maxSocketsPerAddress: perAddress,
    maxAnonymousSockets: guests,
    hits,
  });
  const closed: string[] = [];
  const open = (name: string, rateKey: string) => {
    const client = { rateKey, close: () => void closed.push(name) };
    limits.add(client);
    return client;
  };
  return { limits, hits, closed, open };
}

t.test("sockets are counted in all and by address", async (t) => {
  const { limits, hits, open } = setUp(3, 2, 10);
  open("1", "a");
  const second = open("2", "a");
  t.match(limits.rejectionReason("a"), /one address/);
  t.equal(limits.rejectionReason("b"), undefined);
  open("3", "b");
  t.equal(limits.rejectionReason("c"), "too many WebSockets");
  limits.remove(second);
  t.equal(limits.rejectionReason("a"), undefined);
  t.match(hits.read(), { sockets: 1, sockets_of_address: 1 });
});

t.test(
  "above the limit the oldest anonymous session ends, never a user's",
  async (t) => {
    const { limits, hits, closed, open } = setUp(100, 100, 2);
    const user = open("user", "a");
    limits.setAnonymous(user, false);
    for (const name of ["1", "2", "3"]) open(name, "a");
    t.same(closed, ["1"]);
    limits.setAnonymous(user, true);
    t.same(closed, ["1", "2"], "who signs out is the newest guest");
    t.match(hits.read(), { guest_sockets: 2 });
  },
);

t.test(
  "a disconnected session is not a guest, even if signed out afterwards",
  async (t) => {
    const { limits, closed, open } = setUp(100, 100, 1);
    const gone = open("gone", "a");
    limits.remove(gone);
    limits.setAnonymous(gone, true);
    open("next", "a");
    t.same(closed, []);
  },
);
