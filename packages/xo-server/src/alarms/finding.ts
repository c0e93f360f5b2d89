/** What a rule has found. */
export interface Finding {
  /** What it is about, within the rule: an object's id, or that of a message. */
  readonly key: string;
  /** The object that it is about, as far as one is known. */
  readonly objectId?: string;
  readonly type: string;
  readonly name: string;
  /** The inventory's name for the pool. */
  readonly pool?: string;
  /** Of the metric. */
  readonly value?: number;
  /** What a message or a failed task says. */
  readonly text?: string;
}

/** Who hears what a rule's condition is about. */
export interface Findings {
  /** It is so. Told again when the value differs. */
  holds(finding: Finding): void;
  /** Neither so nor back: between the threshold and where the alarm ends. */
  hovers(finding: Finding): void;
  /** It is not so any more, or it is not known any more. */
  away(key: string): void;
  /** Something that has no end. @param at when, in ms */
  happened(finding: Finding, at: number): void;
}

/** What is known of something that was found before. */
export type Standing = "ended" | "unknown";

/** Follows what a condition is about. */
export interface Watcher {
  /** Of a key that is not found now. */
  standing(key: string, finding: Finding): Standing;
  stop(): void;
}
