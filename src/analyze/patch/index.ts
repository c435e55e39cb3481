export { type Edits, sourceEdits } from './source-edits.ts';
