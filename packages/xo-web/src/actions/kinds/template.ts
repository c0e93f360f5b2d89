import { AppWindow, Plus } from "@lucide/vue";
import { defineAction, type Action } from "../action.js";

/** What is made of templates. */
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
    cannot: (object, text) =>
      object["isDefaultTemplate"] === true
        ? text.actions.reasons.defaultTemplate
        : undefined,
    ask: (_, { text }) => ({ lead: text.actions.leads.toVm }),
    order: () => ({ method: "vm.convertFromTemplate" }),
    undo: (objects) => [{ order: { method: "vm.convertToTemplate" }, objects }],
  }),
];
