import { Type } from "typebox";
import { defineOperation } from "../definition/define-operation.js";
import type { RestRoute } from "../../operations/rest-route.js";
import { actionRoute, idOf, onId } from "../definition/on-object.js";
import type { AdministrateVerb } from "../../rights/actions.js";

const define = (
  name: AdministrateVerb,
  verb: "plug" | "unplug" | "destroy",
  more: { readonly summary: string; readonly rest?: RestRoute },
) =>
  defineOperation({
    ...more,
    name: `pbd.${name}`,
    params: Type.Object({ id: idOf("a PBD") }),
    result: Type.Boolean(),
    permission: onId(`administrate:${name}`, "PBD"),
    changes: true,
    handler: async ({ id }, { objects }) => {
      const { xapi, ref } = objects.get(id, "PBD");
      await xapi.callAsync(`PBD.${verb}`, [ref]);
      return true;
    },
  });

/** PBDs, which connect hosts to SRs. */
export const pbdOperations = [
  define("connect", "plug", {
    summary: "Connect a host to an SR (plug its PBD).",
    rest: actionRoute("/pbds/{id}/actions/plug", "PlugPbd"),
  }),
  define("disconnect", "unplug", {
    summary: "Disconnect a host from an SR (unplug its PBD).",
    rest: actionRoute("/pbds/{id}/actions/unplug", "UnplugPbd"),
  }),
  define("delete", "destroy", {
    summary: "Delete a PBD: the connection of a host to an SR.",
  }),
];
