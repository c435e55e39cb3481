/** What every command gets. */
export interface CommandOptions {
  /** `--name value`; a flag without a value is `''`. */
  readonly flags: ReadonlyMap<string, string>;
  readonly print: (line?: string) => void;
}

/** @returns was there nothing but agreement and known differences? */
export type Command = (options: CommandOptions) => Promise<boolean>;
