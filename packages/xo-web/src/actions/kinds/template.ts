import { AppWindow, Plus } from "@lucide/vue";
import { defineAction, type Action } from "../plan/action.js";

/** Actions of templates. */
export const templateActions: readonly Action[] = [
  defineAction({
    id: "template.createVm",
    types: ["VM-template"],
    icon: Plus,
    group: "work",
    isPrimary: true,
    isForOne: true,
    run({ go }, [template]) {
      if (template !== undefined) go(`/new/vm?template=${template.id}`);
    },
  }),
  defineAction({
    id: "template.toVm",
    types: ["VM-template"],
    icon: AppWindow,
    group: "work",
    refusalOf: (object, text) =>
      object["isDefaultTemplate"] === true
        ? text.actions.reasons.defaultTemplate
        : undefined,
    formOf: (_, { text }) => ({ lead: text.actions.leads.toVm }),
    operation: () => ({ method: "vm.convertFromTemplate" }),
    undo: (objects) => [
      { operation: { method: "vm.convertToTemplate" }, objects },
    ],
  }),
];
