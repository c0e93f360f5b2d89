import { computed, shallowRef, watch, type Ref, type ShallowRef } from "vue";
import { toFailure, type FormFailure } from "../../forms/failure.js";
import { useServer } from "../../live/use-server.js";

/** A partition or logical volume, as `backup.listPartitions` returns it. Sizes in bytes. */
interface BackupPartition {
  readonly id: string;
  readonly name: string;
  readonly label: string;
  readonly size: number;
  readonly fileSystem?: string;
  /** Why it cannot be read. */
  readonly problem?: string;
}

/** A file or folder, as `backup.listFiles` returns it. */
export interface BackupFile {
  readonly name: string;
  readonly kind: "file" | "folder" | "link" | "other";
  readonly size: number;
  /** Milliseconds since the epoch. */
  readonly modified: number;
  readonly target?: string;
  readonly problem?: string;
}

interface FolderPage {
  readonly entries: readonly BackupFile[];
  readonly next?: string;
  readonly total: number;
  readonly wasInUse?: boolean;
}

/** Entries that are requested at once. */
const A_PAGE = 1000;
/** A repository may be slow. */
const TIMEOUT_MS = 300_000;

interface Place {
  /** Id of the backup. */
  readonly archive: string;
  readonly disk: Ref<string>;
}

interface BrowsedFiles {
  readonly partitions: Readonly<
    ShallowRef<readonly BackupPartition[] | undefined>
  >;
  /** Id; empty: none is chosen. */
  readonly partition: Ref<string>;
  /** Names from the root. */
  readonly folder: Readonly<ShallowRef<readonly string[]>>;
  /** What was read of the folder; folders first. */
  readonly entries: Readonly<Ref<readonly BackupFile[]>>;
  readonly page: Readonly<ShallowRef<FolderPage | undefined>>;
  readonly failure: Readonly<ShallowRef<FormFailure | undefined>>;
  readonly isLoading: Readonly<ShallowRef<boolean>>;
  readonly open: (folder: readonly string[]) => void;
  readonly more: () => void;
}

/** Requests about a disk, of which only the last one counts: the user may have gone on. */
function useLatest({ archive: id, disk }: Place) {
  const { call } = useServer();
  const failure = shallowRef<FormFailure>();
  const isLoading = shallowRef(false);
  let latest = 0;

  async function load<T>(
    method: string,
    params: object,
    show: (answer: T) => void,
  ): Promise<void> {
    const request = ++latest;
    isLoading.value = true;
    failure.value = undefined;
    try {
      const answer = (await call(
        method,
        { id, disk: disk.value, ...params },
        TIMEOUT_MS,
      )) as T;
      if (request === latest) show(answer);
    } catch (error) {
      if (request === latest) failure.value = toFailure(error);
    } finally {
      if (request === latest) isLoading.value = false;
    }
  }

  return { failure, isLoading, load };
}

/** Partitions and folders of a disk of a backup, as the user opens them. */
export function useFiles({ archive: id, disk }: Place): BrowsedFiles {
  const partitions = shallowRef<readonly BackupPartition[]>();
  const partition = shallowRef("");
  const folder = shallowRef<readonly string[]>([]);
  const read = shallowRef<readonly BackupFile[]>([]);
  const page = shallowRef<FolderPage>();
  const { failure, isLoading, load } = useLatest({ archive: id, disk });

  function clear(): void {
    read.value = [];
    page.value = undefined;
  }

  function list(after?: string): void {
    const params = {
      partition: partition.value,
      path: `/${folder.value.join("/")}`,
      limit: A_PAGE,
      ...(after === undefined ? {} : { after }),
    };
    void load<FolderPage>("backup.listFiles", params, (answer) => {
      page.value = answer;
      read.value = [...read.value, ...answer.entries];
    });
  }

  function open(names: readonly string[]): void {
    folder.value = names;
    clear();
    list();
  }

  watch(
    disk,
    () => {
      partitions.value = undefined;
      partition.value = "";
      clear();
      void load<readonly BackupPartition[]>(
        "backup.listPartitions",
        {},
        (answer) => {
          partitions.value = answer;
          const readable = answer.filter(
            ({ problem }) => problem === undefined,
          );
          // The largest one is where users keep files.
          const [first] = readable.toSorted((a, b) => b.size - a.size);
          partition.value = first?.id ?? "";
        },
      );
    },
    { immediate: true },
  );
  watch(partition, (chosen) => {
    if (chosen !== "") open([]);
  });

  return {
    partitions,
    partition,
    folder,
    entries: computed(() => foldersFirst(read.value)),
    page,
    failure,
    isLoading,
    open,
    more: () => list(page.value?.next),
  };
}

/** @param files in the order of their names */
function foldersFirst(files: readonly BackupFile[]): BackupFile[] {
  const isFolder = ({ kind }: BackupFile) => kind === "folder";
  return [
    ...files.filter(isFolder),
    ...files.filter((file) => !isFolder(file)),
  ];
}

/** The text that a partition is chosen by. @param size of it, as text */
export function partitionLabel(
  { id, name, label, fileSystem }: BackupPartition,
  size: string,
): string {
  return [
    /^\d+$/.test(id) ? id : undefined,
    name || undefined,
    label === name ? undefined : label || undefined,
    fileSystem,
    size,
  ]
    .filter((part) => part !== undefined)
    .join(" · ");
}
