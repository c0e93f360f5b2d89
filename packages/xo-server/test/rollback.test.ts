import { XapiError } from "@xo-server/model";
import type { Xapi } from "@xo-server/xen-api";
import t from "tap";
import { withRollback } from "../src/vms/rollback.js";

const xapi = {} as Xapi;
const failure = new XapiError("SR_FULL", ["1"]);

t.test("a failure rolls back created objects in reverse order", async (t) => {
  const undone: string[] = [];
  await t.rejects(
    withRollback(xapi, async (rollback) => {
      for (const what of ["VM", "disk"])
        rollback.add(what, async (cleanupXapi) => {
          t.equal(cleanupXapi, xapi);
          undone.push(what);
        });
      throw failure;
    }),
    failure,
    "and reports what it was",
  );
  t.same(undone, ["VM", "disk"]);
});

t.test(
  "remaining objects are named; those already deleted are not",
  async (t) => {
    await t.rejects(
      withRollback(xapi, async (rollback) => {
        rollback.add("VM", async () => {
          throw new XapiError("HANDLE_INVALID", ["VM", "x"]);
        });
        rollback.add("disk 1", async () => {
          throw new XapiError("VDI_IN_USE", ["x"]);
        });
        throw failure;
      }),
      {
        code: "LEFT_BEHIND",
        message: "SR_FULL(1); not cleaned up: disk 1",
        cause: failure,
      },
    );
  },
);

t.test("a success keeps everything", async (t) => {
  const result = withRollback(xapi, async (rollback) => {
    rollback.add("VM", async () => {
      t.fail("taken back");
    });
    return 1;
  });
  t.equal(await result, 1);
});
