/** Of the repository, with a slash at its end. */
export const root: string;

/** Files below src that are built as modules of their own, as `./src/...`. */
export const entryPoints: ReadonlySet<string>;
