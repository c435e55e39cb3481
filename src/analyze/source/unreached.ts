/**
 * Statements of the sources that no unit runs: dead code, or code that the reader lost its way to. They are found by their look alone, so each of
 * them is listed.
 */
import type ts from 'typescript';
import type { NotUnderstood, Place, Unit } from '../application.ts';
import type { Abstract } from './abstract-value.ts';
import type { AnyStep } from './emitter.ts';
import { tableOf } from './builders/drizzle-tables.ts';
import { drivers } from './drivers/index.ts';
import { TooLarge } from './step-limit.ts';
import type { Machine } from './machine.ts';
import { modulesOf } from './imported-modules.ts';
import { isMapCall } from './map-call.ts';
import { holdsWholeStatement, isSqlText, startsAsStatement, writtenText } from './sql-text.ts';
import { nameOf } from './transactions.ts';
import { type Executed, type RunFunctions, unrunFunctions, unrunLines } from './unrun.ts';

/** Statements of all files, by their look. */
export function statementsOf(machine: Machine): readonly Found[] {
  return machine.project.files.flatMap((file) => statementsIn(machine, file));
}

/** Functions that lead to a statement and that no unit runs: the outermost ones. */
export function unrunBy(
  machine: Machine,
  found: readonly Found[],
  units: readonly Unit[],
  run: RunFunctions,
): readonly ts.Node[] {
  return [...unrunFunctions(machine, executedBy(machine, found, units, run)).keys()];
}

function executedBy(
  machine: Machine,
  found: readonly Found[],
  units: readonly Unit[],
  { called, entries }: RunFunctions,
): Executed {
  const steps = units.flatMap(({ steps: all }) => flatten(all));
  const reached = machine.reached.calls(steps.map(({ place }) => place));
  return { called, entries, reached, statements: found.flatMap(({ at, isRun }) => (isRun ? [at] : [])) };
}

export function unreached(
  machine: Machine,
  found: readonly Found[],
  units: readonly Unit[],
  run: RunFunctions,
): readonly NotUnderstood[] {
  const steps = units.flatMap(({ steps: all }) => flatten(all));
  const executed = executedBy(machine, found, units, run);
  const { reached, called } = executed;
  const texts = new Set(steps.flatMap((step) => (step.kind === 'statement' ? [plainText(step.sql)] : [])));
  const listed = new Set(steps.flatMap((step) => (step.kind === 'not-understood' ? [key(step.place)] : [])));
  const lines = found.flatMap(({ at, text, isRun }): readonly NotUnderstood[] => {
    const place = machine.project.place(at);
    const isText = !isRun && text !== undefined && texts.has(plainText(text));
    if (reached.has(at) || isText || listed.has(key(place))) return [];
    listed.add(key(place));
    return [{ kind: 'not-understood', place, reason: reasonFor(machine, at, called) }];
  });
  return [...lines, ...unrunLines(machine, executed, listed)];
}

function reasonFor(machine: Machine, at: ts.Node, called: ReadonlySet<ts.Node>): string {
  const { ts } = machine.project;
  for (let node = at.parent; !ts.isSourceFile(node); node = node.parent) {
    if (!ts.isFunctionLike(node)) continue;
    const name = nameOf(node, ts);
    if (called.has(node)) break;
    if (name !== undefined) return `no unit reaches this statement: none calls ${name}`;
  }
  return 'no unit reaches this statement';
}

function key({ file, line }: Place): string {
  return `${file}:${line}`;
}

function plainText(sql: string): string {
  return sql.trim().replace(/;$/, '').replaceAll(/\s+/g, ' ');
}

type Placed = AnyStep & { readonly kind: 'statement' | 'transaction' | 'not-understood' };

function flatten(steps: readonly AnyStep[]): readonly Placed[] {
  return steps.flatMap((step): readonly Placed[] => {
    switch (step.kind) {
      case 'statement':
      case 'not-understood':
        return [step];
      case 'transaction':
        return [step, ...flatten(step.steps)];
      case 'loop':
        return flatten(step.steps);
      case 'branch':
        return flatten([...step.ifTrue, ...step.ifFalse]);
      default:
        return [];
    }
  });
}

export interface Found {
  readonly at: ts.Node;
  /** `?` for its holes; `undefined` where it is not written in the sources. */
  readonly text: string | undefined;
  /** It runs the text, as far as its name says. Other functions may only keep it. */
  readonly isRun: boolean;
}

const runs = /^(?:query|execute|unsafe)$/i;
/** They print a text, or keep it in a list. */
const printsOrKeeps =
  /^(?:push|unshift|includes|indexOf|concat|join|test|match|exec|log|info|warn|error|debug|trace|format)$/;

function statementsIn(machine: Machine, file: ts.SourceFile): readonly Found[] {
  const { ts } = machine.project;
  const found: Found[] = [];
  const visit = (node: ts.Node): void => {
    const one = ts.isCallExpression(node)
      ? calledWithSql(machine, node)
      : ts.isTaggedTemplateExpression(node)
        ? taggedSql(machine, node)
        : undefined;
    if (one !== undefined) found.push(one);
    ts.forEachChild(node, visit);
  };
  visit(file);
  return found;
}

function calledWithSql(machine: Machine, at: ts.CallExpression): Found | undefined {
  const { ts } = machine.project;
  const { expression: callee } = at;
  const name = ts.isPropertyAccessExpression(callee) ? callee.name.text : callee.getText();
  const texts = at.arguments.map((argument) => textOf(machine, argument, 4));
  const isMethod = ts.isPropertyAccessExpression(callee);
  if (drivers.startsStatement(ts, at, modulesOf(machine.project))) return { at, text: undefined, isRun: true };
  if (isMethod && isModelCall(machine, name, callee.expression)) return { at, text: undefined, isRun: true };
  if (isMethod && runs.test(name)) {
    const [text] = texts;
    const isStatement = text === undefined ? isHandle(machine, callee.expression) : isSqlText(text);
    return isStatement ? { at, text, isRun: true } : undefined;
  }
  if (isMethod && /^(?:from|insert|update|delete)$/.test(name) && isTableObject(machine, at.arguments[0]))
    return { at, text: undefined, isRun: true };
  if (isMethod && (printsOrKeeps.test(name) || isMapCall(machine, at))) return undefined;
  const text = texts.find((one) => one !== undefined && isStatementText(one));
  return text === undefined ? undefined : { at, text, isRun: false };
}

/** `Account.create(...)`, `Account.scope('open').count()` of a model that the sources define. */
function isModelCall(machine: Machine, method: string, receiver: ts.Expression): boolean {
  const { ts } = machine.project;
  let model = receiver;
  while (ts.isCallExpression(model) && ts.isPropertyAccessExpression(model.expression))
    model = model.expression.expression;
  if (!ts.isIdentifier(model) && !ts.isPropertyAccessExpression(model)) return false;
  const value = valueAtTop(machine, model);
  return value !== undefined && drivers.isModelCall(machine, method, value);
}

/** What an expression is where no function runs; `undefined`: it is not read to the end. */
function valueAtTop(machine: Machine, node: ts.Expression): Abstract | undefined {
  machine.restart();
  try {
    return machine.evaluate(node, machine.globals.scope);
  } catch (error) {
    if (error instanceof TooLarge) return undefined;
    throw error;
  }
}

/** A table that the sources declare, passed to a handle that the reader may have lost: `context.db.insert(users)`. */
function isTableObject(machine: Machine, node: ts.Expression | undefined): boolean {
  const { ts } = machine.project;
  if (node === undefined || !(ts.isIdentifier(node) || ts.isPropertyAccessExpression(node))) return false;
  return tableOf(valueAtTop(machine, node)) !== undefined;
}

function taggedSql(machine: Machine, at: ts.TaggedTemplateExpression): Found | undefined {
  const text = writtenText(machine.project.ts, at.template);
  const isSql = isStatementText(text) && (/sql|query|execute/i.test(at.tag.getText()) || isHandle(machine, at.tag));
  return isSql && !isPartOfTemplate(machine, at) ? { at, text, isRun: true } : undefined;
}

function isStatementText(text: string): boolean {
  return startsAsStatement(text) && holdsWholeStatement(text);
}

function isPartOfTemplate(machine: Machine, at: ts.Node): boolean {
  const { ts } = machine.project;
  for (let node = at.parent; !ts.isStatement(node) && !ts.isFunctionLike(node); node = node.parent) {
    if (ts.isTemplateSpan(node)) return true;
  }
  return false;
}

/** The text as it is written, also where a variable or a property has it. */
function textOf(machine: Machine, node: ts.Expression, depth: number): string | undefined {
  const { ts } = machine.project;
  if (depth === 0) return undefined;
  if (ts.isStringLiteralLike(node) || ts.isTemplateExpression(node)) return writtenText(ts, node);
  if (ts.isParenthesizedExpression(node) || ts.isAsExpression(node)) return textOf(machine, node.expression, depth);
  if (ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.PlusToken) {
    const left = textOf(machine, node.left, depth);
    return left === undefined ? undefined : left + (textOf(machine, node.right, depth) ?? '?');
  }
  if (ts.isConditionalExpression(node))
    return textOf(machine, node.whenTrue, depth - 1) ?? textOf(machine, node.whenFalse, depth - 1);
  if (ts.isObjectLiteralExpression(node)) {
    const property = node.properties.find((one) => /^(?:text|sql)$/.test(one.name?.getText() ?? ''));
    return property !== undefined && ts.isPropertyAssignment(property)
      ? textOf(machine, property.initializer, depth - 1)
      : undefined;
  }
  const name = ts.isPropertyAccessExpression(node) ? node.name : node;
  if (!ts.isIdentifier(name)) return undefined;
  const value = valueOfName(machine, name);
  return value === undefined ? undefined : textOf(machine, value, depth - 1);
}

/** What its declaration says, or else the first assignment. */
function valueOfName(machine: Machine, name: ts.Identifier): ts.Expression | undefined {
  const { ts, checker } = machine.project;
  const symbol = checker.getSymbolAtLocation(name);
  const isAlias = symbol !== undefined && (symbol.flags & ts.SymbolFlags.Alias) !== 0;
  const declaration = (isAlias ? checker.getAliasedSymbol(symbol) : symbol)?.valueDeclaration;
  if (declaration === undefined || !(ts.isVariableDeclaration(declaration) || ts.isPropertyAssignment(declaration)))
    return undefined;
  if (declaration.initializer !== undefined) return declaration.initializer;
  let assigned: ts.Expression | undefined;
  const visit = (node: ts.Node): void => {
    if (
      ts.isBinaryExpression(node) &&
      node.operatorToken.kind === ts.SyntaxKind.EqualsToken &&
      ts.isIdentifier(node.left) &&
      checker.getSymbolAtLocation(node.left) === symbol
    )
      assigned ??= node.right;
    else ts.forEachChild(node, visit);
  };
  visit(declaration.parent.parent.parent);
  return assigned;
}

/** A driver's handle, as far as names lead to it. */
function isHandle(machine: Machine, node: ts.Expression): boolean {
  const { ts } = machine.project;
  let inner = node;
  while (ts.isPropertyAccessExpression(inner)) inner = inner.expression;
  if (!ts.isIdentifier(inner)) return false;
  const value = valueAtTop(machine, node);
  return value?.kind === 'native' && value.isHandle;
}
