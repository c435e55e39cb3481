export { type CycleDrawing, formatDot, formatMermaid } from './cycle-drawing.ts';
export { formatCycle, transactionsOf } from './cycle.ts';
export { counted, formatCount, printable, truncate, wrap } from './display-text.ts';
export { formatEstimated, formatLevels, formatMarks } from './explorations.ts';
export { drawHistory } from './history-drawing.ts';
export { formatSessions, type SessionsOptions } from './sessions.ts';
export { plain, type Style, type Styler } from './style.ts';
export { formatTable } from './table.ts';
export { formatAnswer } from './replay-answer.ts';
