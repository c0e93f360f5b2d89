import type { Action, Purpose } from "@xo-server/placement";
import t from "tap";
import { de } from "../src/locale/de/all.js";
import { en } from "../src/locale/en/all.js";
import { Formats } from "../src/locale/formats.js";
import {
  busiest,
  hostChanges,
  unmeasuredHosts,
} from "../src/placement/balance/host-changes.js";
import {
  allOf,
  choose,
  chosenActions,
} from "../src/placement/balance/move-choice.js";
import { moveReason } from "../src/placement/balance/move-reason.js";
import { planQuestion } from "../src/placement/balance/plan-question.js";
import {
  goalOf,
  isSamePlan,
  type Recommendation,
} from "../src/placement/balance/recommendation.js";
import {
  nothingToDo,
  stoppedText,
} from "../src/placement/balance/plan-notices.js";
import type { Sentence } from "../src/placement/rule-text.js";

const english = { text: en, formats: new Formats("en", en) };

function move(vm: string, after: number[] = [], more = {}): Action {
  return {
    kind: "migrate",
    purpose: "overload",
    vm,
    from: "h1",
    to: "h2",
    score: { hostAffinity: 0, groups: 0, headroom: 0.48 },
    order: 0,
    after,
    ...more,
  };
}

function plan(actions: readonly Action[], more = {}): Recommendation {
  const figures = (host: string, cpu: number, memory: number, vms: number) => ({
    host,
    cpu,
    memory,
    vms,
  });
  return {
    actions,
    unplaced: [],
    isProven: false,
    stopped: "balanced",
    figuresBefore: [
      figures("h2", 0.2, 0.3, 4),
      figures("h1", 0.91, 0.5, 9),
      figures("h3", 0.3, 0.6, 5),
    ],
    figuresAfter: [
      figures("h1", 0.62, 0.4, 8),
      figures("h2", 0.49, 0.4, 5),
      figures("h3", 0.3, 0.6, 5),
    ],
    emptied: [],
    ...more,
  };
}

/** What it names in brackets. */
function said(sentence: Sentence): string {
  return sentence
    .map((piece) => (typeof piece === "string" ? piece : `[${piece.id}]`))
    .join("");
}

t.test(
  "a selected migration includes all migrations that it depends on",
  async (t) => {
    const actions = [move("a"), move("b", [0]), move("c"), move("d", [1])];
    t.same([...choose(actions, new Set(), 3, true)], [0, 1, 3]);
    t.same([...choose(actions, new Set([2]), 1, true)], [0, 1, 2]);
  },
);

t.test(
  "deselecting a migration deselects the migrations that depend on it",
  async (t) => {
    const actions = [move("a"), move("b", [0]), move("c"), move("d", [1, 2])];
    t.same([...choose(actions, allOf(actions), 0, false)], [2]);
    t.same([...choose(actions, allOf(actions), 2, false)], [0, 1]);
    t.same([...choose(actions, allOf(actions), 3, false)], [0, 1, 2]);
  },
);

t.test(
  "selected migrations are a plan of their own with renumbered dependencies",
  async (t) => {
    const actions = [move("a"), move("b"), move("c", [1]), move("d", [1, 2])];
    t.same(
      chosenActions(actions, new Set([1, 2, 3])).map(({ vm, after }) => [
        vm,
        after,
      ]),
      [
        ["b", []],
        ["c", [0]],
        ["d", [0, 1]],
      ],
    );
    t.same(chosenActions(actions, new Set()), []);
  },
);

t.test("a migration is explained with the load before and after", async (t) => {
  t.equal(
    said(moveReason(plan([move("a")]), 0, english)),
    "CPU usage of [h1] is 91%, above 85%; 48% remain free on [h2].",
  );
  const full = plan([move("a")], {
    figuresBefore: [{ host: "h1", cpu: 0.5, memory: 0.95, vms: 3 }],
    policy: { memoryHigh: 0.8 },
  });
  t.equal(
    said(moveReason(full, 0, english)),
    "Memory usage of [h1] is 95%, above 80%; 48% remain free on [h2].",
  );
  const tight = { score: { hostAffinity: 0, groups: 0, headroom: -0.1 } };
  t.match(
    said(moveReason(plan([move("a", [], tight)]), 0, english)),
    /; \[h2\] is overloaded by 10% afterwards\.$/,
  );
});

t.test(
  "a migration that makes room names the VM that needs it, each purpose has a text",
  async (t) => {
    const makesRoom = [
      move("a", [], { purpose: "make-room" }),
      move("b", [0], { purpose: "enforce-rules" }),
    ];
    t.match(
      said(moveReason(plan(makesRoom), 0, english)),
      /^Makes room for \[b\]/,
    );
    const purposes: readonly Purpose[] = [
      "evacuate",
      "balance",
      "consolidate",
      "enforce-rules",
      "make-room",
      "start",
      "restart",
    ];
    for (const purpose of purposes)
      for (const text of [en, de]) {
        const texts = said(
          moveReason(plan([move("a", [], { purpose })]), 0, {
            text,
            formats: new Formats("en", text),
          }),
        );
        t.match(texts, /^\S.*; .*\[h2\].*\.$/, `${purpose}: ${texts}`);
        t.notMatch(texts, /[{}]/);
      }
  },
);

t.test("a migration without statistics still has a reason", async (t) => {
  const bare = { actions: [move("a")], unplaced: [], isProven: false };
  t.match(said(moveReason(bare, 0, english)), /^Its host is overloaded; /);
});

t.test(
  "hosts that would differ come first, the fullest of them first",
  async (t) => {
    const changes = hostChanges(plan([]));
    t.same(
      changes.map(({ host, isChanged }) => [host, isChanged]),
      [
        ["h1", true],
        ["h2", true],
        ["h3", false],
      ],
    );
    t.equal(changes[0]?.after.cpu, 0.62);
    t.equal(busiest(plan([]).figuresBefore ?? [], "memory")?.host, "h3");
    t.equal(busiest([], "cpu"), undefined);
  },
);

t.test("the statistics show that nothing is to be done", async (t) => {
  const { heading, lead } = nothingToDo(plan([]), "performance", english);
  t.equal(heading, "Load is balanced");
  t.match(
    lead,
    /CPU usage of a host: 91% \(threshold 85%\).*memory usage: 60%/,
  );
  const headings = [
    nothingToDo(plan([]), "consolidate", english),
    nothingToDo(
      plan([], { stopped: "no-beneficial-migration" }),
      "performance",
      english,
    ),
    nothingToDo(plan([]), "enforce-rules", english),
    nothingToDo(plan([]), "evacuate", english),
    nothingToDo(
      plan([], { unplaced: [{ vm: "a", refusals: [], fitsAlone: true }] }),
      "evacuate",
      english,
    ),
  ].map((one) => one.heading);
  t.same(headings, [
    "No host can be emptied",
    "No beneficial migration",
    "No rule violations",
    "No running VMs",
    "No solution",
  ]);
});

t.test("a host without metrics has no CPU figure, not 0 %", async (t) => {
  const figures = [{ host: "h1", memory: 0.5, vms: 3 }];
  const unknown = plan([], { figuresBefore: figures, figuresAfter: figures });
  t.equal(hostChanges(unknown)[0]?.before.cpu, undefined);
  t.equal(busiest(figures, "cpu"), undefined);
  t.same(unmeasuredHosts(unknown), ["h1"]);
  t.same(unmeasuredHosts(plan([])), []);
});

t.test("incomplete lists are marked", async (t) => {
  t.equal(stoppedText(plan([move("a")]), english), undefined);
  t.match(
    stoppedText(plan([move("a")], { stopped: "max-migrations" }), english),
    /At most 1 migration/,
  );
});

t.test("a plan is the same as long as its moves are", async (t) => {
  const one = plan([move("a"), move("b", [0])]);
  t.ok(isSamePlan(one, { ...one, figuresAfter: [] }));
  t.notOk(isSamePlan(one, plan([move("a"), move("b")])));
  t.notOk(isSamePlan(undefined, plan([])));
});

t.test("each goal has its question", async (t) => {
  t.same(planQuestion("p", "consolidate", ["h1"]), {
    method: "placement.recommend",
    params: { pool: "p", goal: "consolidate" },
  });
  t.same(planQuestion("p", "evacuate", ["h1"]), {
    method: "placement.planEvacuation",
    params: { hosts: ["h1"] },
  });
  t.equal(goalOf("toString"), "performance");
  t.equal(goalOf("enforce-rules"), "enforce-rules");
});
