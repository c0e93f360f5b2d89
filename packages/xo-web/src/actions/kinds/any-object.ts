import { Pencil, Tags } from "@lucide/vue";
import type { ObjectRow } from "../../api/object-row.js";
import { plainName } from "../../api/plain-name.js";
import {
  defineAction,
  type Action,
  type ActionDefinition,
} from "../plan/action.js";

/** Operation that changes name, description and tags of an object, by its type. */
export const setters: Readonly<Record<string, string>> = {
  VM: "vm.set",
  "VM-template": "vm.set",
  "VM-snapshot": "vm.set",
  host: "host.set",
  pool: "pool.set",
  SR: "sr.set",
  VDI: "vdi.set",
  network: "network.set",
};
const tagged = ["VM", "VM-template", "host", "pool", "VDI"];

const addTag: ActionDefinition = {
  id: "object.addTag",
  types: [],
  icon: Tags,
  group: "change",
  formOf: (_, { text }) => ({
    fields: [{ kind: "text", id: "tag", label: text.actions.fields.tag }],
  }),
  operation: (_, { tag = null }) => ({ method: "tag.add", params: { tag } }),
};

/** Actions of objects of almost all types: name and tags. */
export const anyObjectActions: readonly Action[] = [
  defineAction({
    id: "object.rename",
    types: Object.keys(setters),
    icon: Pencil,
    group: "change",
    isForOne: true,
    formOf: ([object], { text }) => ({
      fields: [
        {
          kind: "text",
          id: "name_label",
          label: text.actions.fields.name,
          initial: object?.name_label ?? "",
        },
        {
          kind: "lines",
          id: "name_description",
          isOptional: true,
          label: text.actions.fields.description,
          initial: object?.name_description ?? "",
        },
      ],
      button: text.ui.save,
    }),
    operation: (object, { name_label = null, name_description }) => ({
      method: setterOf(object),
      params: { name_label, name_description: name_description ?? "" },
    }),
    undo: (objects) =>
      objects.map((object) => ({
        operation: {
          method: setterOf(object),
          params: {
            name_label: object.name_label ?? "",
            name_description: object.name_description ?? "",
          },
        },
        objects: [object],
      })),
  }),
  defineAction({ ...addTag, types: tagged, isForMany: true }),
  defineAction({ ...addTag, types: ["SR", "network"] }),
  defineAction({
    id: "object.removeTag",
    // Lists of other types do not load the tags of their rows.
    types: ["VM", "VM-template", "host"],
    icon: Tags,
    group: "change",
    isForMany: true,
    // Rows of a list have no tags while it does not show them: the form reads them.
    refusalOf: ({ tags }, { actions }) =>
      tags?.length === 0 ? actions.reasons.noTags : undefined,
    formOf: (objects, { text }) => ({
      fields: [
        {
          kind: "choice",
          id: "tag",
          label: text.actions.fields.tag,
          options: tagsOf(objects).map((id) => ({ id, label: plainName(id) })),
        },
      ],
    }),
    operation: (_, { tag = null }) => ({
      method: "tag.remove",
      params: { tag },
    }),
  }),
  defineAction({
    id: "object.tags",
    types: tagged,
    icon: Tags,
    group: "change",
    isForOne: true,
    formOf: ([object], { text }) => ({
      fields: [
        {
          kind: "tags",
          id: "tags",
          initial: object?.tags ?? [],
          label: text.actions.fields.tags,
          hint: text.actions.fields.tagsHint,
          isOptional: true,
        },
      ],
      button: text.ui.save,
    }),
    operation: (object, { tags }) => ({
      method: setterOf(object),
      params: { tags: tags ?? [] },
    }),
    undo: (objects) =>
      objects.map((object) => ({
        operation: {
          method: setterOf(object),
          params: { tags: [...(object.tags ?? [])] },
        },
        objects: [object],
      })),
  }),
];

/** Sorted by name. */
function tagsOf(objects: readonly ObjectRow[]): string[] {
  return [...new Set(objects.flatMap(({ tags = [] }) => tags))].sort((a, b) =>
    a.localeCompare(b),
  );
}

function setterOf({ type }: ObjectRow): string {
  return setters[type] ?? "vm.set";
}
