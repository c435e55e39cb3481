/** The end of the help of commands whose exit codes mean nothing of their own. */
export const exitCodes = `
Exit codes: 0 nothing found, 1 violation found, 2 not known (out of time or budget), 3 bad input or usage,
4 a failure of moirai itself.`;
