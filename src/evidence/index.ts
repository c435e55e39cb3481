export { conclude, exitCodeOf, type Conclusion, type Gap } from './conclude.ts';
export {
  noAnswers,
  noEvidence,
  type AnswerEvidence,
  type Evidence,
  type Loss,
  type RolledBack,
  type Looked,
  type SessionEvidence,
  type StatementEvidence,
  type UnsupportedStatement,
} from './evidence.ts';
export {
  type Asks,
  cannotFail,
  cannotFailText,
  nothingReturnedText,
  type InvariantEvidence,
  type JudgedAgainEvidence,
  noInvariant,
} from './invariant-evidence.ts';
export { conclusionJson, gapText } from './text.ts';
