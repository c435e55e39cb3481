export { type CycleDrawing, formatDot, formatMermaid } from './cycle-drawing.ts';
export { formatCycle, transactionsOf } from './cycle.ts';
export { counted, formatCount } from '../base/index.ts';
export { printable, truncate, wrap } from './display-text.ts';
export {
  brokenLevels,
  formatEstimated,
  formatMarks,
  formatReportTable,
  levelsText,
  type LevelsThatFail,
  levelTable,
  marksTable,
  toneOf,
} from './explorations.ts';
export { drawHistory } from './history-drawing.ts';
export { formatSessions, type SessionsOptions } from './sessions.ts';
export { plain, type Style, type Styler } from './style.ts';
export { formatTable } from './table.ts';
export { formatAnswer } from './replay-answer.ts';
export { emptyRun, emptyStep } from './page/empty-picture.ts';
export { cyclePicture, type CycleTransaction } from './page/cycle-picture.ts';
export { tracePicture } from './page/trace-picture.ts';
export { historyPicture, type FailingHistory, violationPicture } from './page/history-picture.ts';
export { htmlPage } from './page/html-page.ts';
export { formatJunit } from './page/junit.ts';
export { formatSummary } from './page/summary.ts';
export { joinReports } from './page/join-reports.ts';
export { faultInReport } from './page/report-shape.ts';
export {
  type DraftPicture,
  type DraftStep,
  initialOf,
  pictureEdges,
  stepsWithReads,
} from './page/picture-steps.ts';
export type {
  PictureMessage,
  PictureStep,
  PictureTransaction,
  ReportData,
  ReportTable,
  RunPicture,
  TransactionEnd,
} from './page/report-data.ts';
