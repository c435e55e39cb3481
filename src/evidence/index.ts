export { conclude, exitCodeOf, type Conclusion, type Gap } from './conclude.ts';
export {
  noEvidence,
  type Evidence,
  type Loss,
  type RolledBack,
  type Looked,
  type SessionEvidence,
  type UnsupportedStatement,
} from './evidence.ts';
export { noAnswers, type AnswerEvidence, type StatementEvidence } from './answer-evidence.ts';
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
