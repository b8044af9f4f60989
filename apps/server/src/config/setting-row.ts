/** One row of the table of settings. */
export interface SettingRow {
  /** The paths that the row names: `[]` stands for any place in a list. */
  readonly names: readonly string[];
  /** Members that the row explains in its text. */
  readonly covers?: readonly string[];
  /** The value when the setting is absent; undefined: it must be given, or its absence needs no word. */
  readonly fallback?: string;
  /** Markdown, as a part of a sentence. */
  readonly meaning: string;
}
