export { formatCycle, transactionsOf } from './cycle.ts';
export { counted, displayWidth, formatCount, printable, truncate, wrap } from './display-text.ts';
export { formatSessions, type SessionsOptions } from './sessions.ts';
export { plain, type Style, type Styler } from './style.ts';
export { formatTable } from './table.ts';
