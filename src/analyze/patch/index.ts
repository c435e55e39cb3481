export { type Edits, sourceEdits } from './source-edits.ts';
export { unifiedPatch } from './unified-patch.ts';
