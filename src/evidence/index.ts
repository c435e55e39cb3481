export { conclude, exitCodeOf, type Conclusion, type Gap } from './conclude.ts';
export {
  noEvidence,
  type Evidence,
  type Loss,
  type Looked,
  type SessionEvidence,
  type UnsupportedStatement,
} from './evidence.ts';
export { conclusionJson, gapText } from './text.ts';
