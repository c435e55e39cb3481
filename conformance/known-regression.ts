/** Statements of PostgreSQL's regression files whose rows are silently others, by file and key of the statement, with the reason. */
export const knownRows: Readonly<Record<string, Readonly<Record<string, string>>>> = {};
