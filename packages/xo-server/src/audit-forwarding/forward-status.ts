import { Type, type Static } from "typebox";

export const ForwardStatus = Type.Object({
  name: Type.String(),
  address: Type.String({ description: "URL without query." }),
  state: Type.Enum(["starting", "current", "behind", "failing", "elsewhere"], {
    description:
      "current: all entries have been forwarded; failing: the last attempt failed and is repeated; elsewhere: another server of the same database forwards to this target.",
  }),
  pending: Type.Integer({
    description: "Number of entries that have not been forwarded.",
  }),
  lagMs: Type.Integer({
    description: "Age of the oldest entry that has not been forwarded, in ms.",
  }),
  sent: Type.Integer({ description: "Entries forwarded since the start." }),
  failures: Type.Integer({ description: "Failed attempts since the start." }),
  lastSentAt: Type.Optional(
    Type.Number({ description: "Time, in ms since the epoch." }),
  ),
  error: Type.Optional(
    Type.String({ description: "Reason of the last failed attempt." }),
  ),
});
export type ForwardStatus = Static<typeof ForwardStatus>;
