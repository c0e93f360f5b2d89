import type { PoolFigures, Survival } from "@xo-server/placement";
import t from "tap";
import type { Json } from "@xo-server/kit";
import { en } from "../src/locale/en/all.js";
import { Formats } from "../src/locale/formats.js";
import {
  draftOf,
  withDraft,
  type DraftForm,
} from "../src/placement/failures/draft-changes.js";
import { draftText } from "../src/placement/failures/draft-text.js";
import { fleetOf } from "../src/placement/failures/fleet.js";
import { toChanges } from "../src/placement/failures/to-changes.js";
import { whatIfRows } from "../src/placement/failures/what-if-rows.js";
import {
  rankCandidates,
  type PlaceVmAnswer,
} from "../src/placement/why/candidate-ranking.js";

const GIB = 2 ** 30;
const english = { text: en, formats: new Formats("en", en) };
const form: DraftForm = {
  kind: "addVms",
  host: "",
  vm: "",
  count: 3,
  gib: 4,
  vcpus: 2,
  protection: "restart",
};

/** What the server knows, by type: rows are given whole, whatever is asked. */
const rows: Readonly<Record<string, readonly Json[]>> = {
  host: [
    {
      id: "h",
      memory: { size: 64 * GIB },
      cpus: { cores: 16 },
      CPUs: { vendor: "GenuineIntel" },
      controlDomain: "dom0",
    },
  ],
  "VM-controller": [{ id: "dom0", memory: { size: 4 * GIB } }],
  PIF: [{ $network: "lan" }, { $network: "lan" }, {}],
  PBD: [{ SR: "nfs" }],
  network: [
    { id: "lan", PIFs: ["p"] },
    { id: "inside", PIFs: [] },
  ],
};

const call = (_: string, params: unknown): Promise<Json> => {
  const { type } = params as { readonly type: string };
  return Promise.resolve({ rows: rows[type] ?? [] });
};

t.test("an incomplete form makes no change", async (t) => {
  t.match(draftOf(form), { kind: "addVms", count: 3, memory: 4 * GIB });
  t.equal(draftOf({ ...form, count: 0 }), undefined);
  t.equal(draftOf({ ...form, count: 1_001 }), undefined);
  t.equal(draftOf({ ...form, gib: NaN }), undefined);
  t.equal(draftOf({ ...form, kind: "removeHost" }), undefined);
  t.equal(draftOf({ ...form, kind: "setMemory", gib: 4 }), undefined);
  t.match(draftOf({ ...form, kind: "addHosts", host: "h" }), { count: 3 });
});

t.test(
  "a plan migrates a VM once and evacuates a host once; more VMs need more migrations",
  async (t) => {
    const memory = (gib: number) =>
      draftOf({ ...form, kind: "setMemory", vm: "v", gib })!;
    const gone = draftOf({ ...form, kind: "removeHost", host: "h" })!;
    let drafts = withDraft([], memory(1));
    drafts = withDraft(drafts, memory(2));
    t.match(drafts, [{ memory: 2 * GIB }]);
    drafts = withDraft(withDraft(drafts, gone), gone);
    t.equal(drafts.length, 2);
    drafts = withDraft(withDraft(drafts, draftOf(form)!), draftOf(form)!);
    t.equal(drafts.length, 4);
  },
);

t.test("a change is described in a sentence", async (t) => {
  const fleet = fleetOf([], undefined);
  t.equal(
    draftText(draftOf(form)!, fleet, english),
    "Add 3 VMs with 4 GiB each: Protected",
  );
  t.equal(
    draftText({ kind: "removeHost", host: "0123456789" }, fleet, english),
    "Remove 01234567",
  );
});

t.test("a joining host must match the pool's hosts", async (t) => {
  const drafts = [{ kind: "addHosts", host: "h", count: 2 }] as const;
  const changes = await toChanges(call, "p", drafts);
  t.equal(changes.length, 2);
  t.same(changes[0], {
    kind: "host",
    host: {
      id: "new-host-0-0",
      state: "up",
      memory: 60 * GIB,
      cores: 16,
      networks: ["lan", "inside"],
      srs: ["nfs"],
      cpu: "GenuineIntel",
    },
  });
});

t.test("a memory change of a VM reports nothing else", async (t) => {
  const drafts = [{ kind: "setMemory", vm: "v", memory: GIB }] as const;
  t.same(await toChanges(call, "p", drafts), [
    { kind: "vm", vm: { id: "v", memory: GIB } },
  ]);
});

t.test(
  "new VMs have ids of their own, and the requested restart priority",
  async (t) => {
    const drafts = [
      draftOf({ ...form, count: 1 })!,
      draftOf({ ...form, count: 1, protection: "none" })!,
    ];
    const changes = await toChanges(call, "p", drafts);
    t.match(changes, [
      { vm: { id: "new-vm-0-0", restart: { priority: "restart" } } },
      { vm: { id: "new-vm-1-0" } },
    ]);
    t.notOk(
      changes.some(
        (one) =>
          one.kind === "vm" && one.vm.id.endsWith("1-0") && one.vm.restart,
      ),
    );
  },
);

function figures(survival: Partial<Survival>): PoolFigures {
  return {
    hosts: 3,
    vms: 60,
    memory: { size: 192 * GIB, free: 64 * GIB },
    cpu: { cores: 48, busy: 12.34 },
    survival: { failures: 1, atMost: 1, isExact: true, steps: [], ...survival },
  };
}

t.test("figures before and after, and whether more is survived", async (t) => {
  const placed = { actions: [], unplaced: [], isProven: false };
  const [survived, , , memory, , cpu] = whatIfRows(
    {
      before: figures({}),
      placed,
      after: figures({ failures: 2, atMost: 3, isExact: false }),
    },
    english,
  );
  t.match(survived, {
    before: "1 (exact)",
    after: "2 to 3 (bound)",
    trend: "better",
  });
  t.equal(memory?.before, "192 GiB");
  t.equal(cpu?.before, "12.3 of 48");
  const [worse] = whatIfRows(
    { before: figures({}), after: figures({ failures: 0, atMost: 0 }), placed },
    english,
  );
  t.equal(worse?.trend, "worse");
});

const score = (headroom: number, hostAffinity = 0) => ({
  hostAffinity,
  groups: 0,
  headroom,
});
const answer: PlaceVmAnswer = {
  vm: "v",
  host: "a",
  candidates: [
    { host: "a", refusals: [], score: score(0.6) },
    { host: "b", refusals: [], score: score(0.595) },
    { host: "c", refusals: [], score: score(0.2) },
    { host: "d", refusals: [{ rule: "network", network: "n" }] },
  ],
};

t.test(
  "possible hosts of a VM: candidates, refusals, and a comparison with the present host",
  async (t) => {
    const { able, refused, verdict } = rankCandidates(answer, "a");
    t.same([able.length, refused.length, verdict], [3, 1, "best"]);
    t.match(able[0], { isHere: true, isBest: true });
    t.equal(rankCandidates(answer, "c").verdict, "better");
    t.equal(rankCandidates(answer, undefined).verdict, "start");
    t.equal(rankCandidates(answer, "d").verdict, "better");
  },
);

t.test(
  "slightly less free space is not a reason to migrate; a preference is",
  async (t) => {
    t.equal(rankCandidates(answer, "b").verdict, "best");
    const wished = {
      ...answer,
      candidates: [
        { host: "a", refusals: [], score: score(0.6, 1) },
        ...answer.candidates.slice(1),
      ],
    };
    t.equal(rankCandidates(wished, "b").verdict, "better");
  },
);

t.test("if no host accepts it, none is the best", async (t) => {
  const candidates = answer.candidates.slice(3);
  const { able, verdict } = rankCandidates({ vm: "v", candidates }, "d");
  t.equal(able.length, 0);
  t.equal(verdict, "none");
});
