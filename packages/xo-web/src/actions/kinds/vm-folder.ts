import { FolderInput } from "@lucide/vue";
import type { ObjectRow } from "../../api/object-row.js";
import { defineAction, type Action } from "../plan/action.js";

const METHOD = "vm.setFolder";

/** Moves VMs and templates between folders, which XenCenter shows too. */
export const vmFolderActions: readonly Action[] = [
  defineAction({
    types: ["VM", "VM-template", "VM-snapshot"],
    group: "change",
    id: "vm.setFolder",
    icon: FolderInput,
    formOf: (objects, { text: { actions } }) => ({
      fields: [
        {
          kind: "folder",
          id: "folder",
          isOptional: true,
          label: actions.fields.folder,
          hint: actions.fields.folderHint,
          initial: commonFolder(objects),
        },
      ],
    }),
    operation: (_, { folder }) => ({
      method: METHOD,
      params: { folder: pathOf(folder), create: true },
    }),
    undo: (objects) =>
      objects.map((object) => ({
        operation: {
          method: METHOD,
          params: { folder: pathOf(object["folder"]), create: true },
        },
        objects: [object],
      })),
  }),
];

/** @returns null: no folder */
function pathOf(value: unknown): string | null {
  const text = typeof value === "string" ? value.trim() : "";
  return text === "" || text === "/" ? null : text;
}

/** Empty: they are in different folders or in none. */
function commonFolder(objects: readonly ObjectRow[]): string {
  const folders = new Set(objects.map((object) => pathOf(object["folder"])));
  const [only] = folders;
  return folders.size === 1 ? (only ?? "") : "";
}
