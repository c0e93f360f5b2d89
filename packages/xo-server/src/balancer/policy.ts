import { XoError } from "@xo-server/model";
import { Type, type Static } from "typebox";

const seconds = (minimum: number, description: string) =>
  Type.Integer({ minimum, maximum: 86_400, description });
const share = (description: string) =>
  Type.Number({ minimum: 0.05, maximum: 1, description });

/** How a pool is balanced, as it is given and kept. */
export const policyMembers = {
  mode: Type.Enum(["off", "dry-run", "automatic"], {
    description: "dry-run: what would be moved is written down, nothing moves.",
  }),
  goal: Type.Enum(["performance", "density"], {
    description:
      "performance: hosts that have too much to do are relieved. density: that, and hosts that can be spared are emptied.",
  }),
  cpuHigh: share("Of a host's cores in use; above it VMs leave it."),
  cpuLow: share("Until its use is below; above it none comes."),
  memoryHigh: share("Of a host's memory in use; above it VMs leave it."),
  moveCost: Type.Number({
    minimum: 0,
    maximum: 1,
    description:
      "What a move has to gain for each GiB of the VM: the fall of the sum of squares of shares in use, over hosts.",
  }),
  mostMoves: Type.Integer({
    minimum: 1,
    maximum: 100,
    description: "Of one run.",
  }),
  parallel: Type.Integer({
    minimum: 1,
    maximum: 16,
    description: "Moves at a time.",
  }),
  intervalSeconds: seconds(10, "Between two looks."),
  coolDownSeconds: seconds(0, "A VM that was moved stays for so long."),
  holdSeconds: seconds(0, "What is out of balance has to last for so long."),
  excludedTags: Type.Array(Type.String({ minLength: 1, maxLength: 1024 }), {
    maxItems: 64,
    description: "VMs with one of these stay where they are.",
  }),
  repairs: Type.Boolean({
    description: "Breaches of groups and locations are mended as well.",
  }),
};

export type Policy = Readonly<
  Static<ReturnType<typeof Type.Object<typeof policyMembers>>>
>;

/** Of a pool that nobody has set one for. */
export const defaultPolicy: Policy = {
  mode: "off",
  goal: "performance",
  cpuHigh: 0.85,
  cpuLow: 0.65,
  memoryHigh: 0.9,
  moveCost: 0.01,
  mostMoves: 5,
  parallel: 2,
  intervalSeconds: 60,
  coolDownSeconds: 600,
  holdSeconds: 120,
  excludedTags: [],
  repairs: true,
};

/** @param body as the store has it: of an older version, what is new is missing */
export function toPolicy(body: unknown): Policy {
  return { ...defaultPolicy, ...(body as Partial<Policy> | undefined) };
}

/** @throws XoError INVALID_PARAMETERS: there is no room between its marks */
export function checkPolicy({ cpuHigh, cpuLow }: Policy): void {
  if (cpuLow < cpuHigh) return;
  throw new XoError("INVALID_PARAMETERS", {
    reason: "cpuLow has to be below cpuHigh",
  });
}
