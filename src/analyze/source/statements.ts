/** Runs the statements of the analysed source. */
import type ts from 'typescript';
import type { Value } from '../application.ts';
import {
  type Abstract,
  arrayOf,
  type FunctionNode,
  type FunctionValue,
  objectOf,
  Scope,
  undefinedValue,
  unknown,
} from './abstract-value.ts';
import { runSometime } from './run-sometime.ts';
import { isChain } from './builders/chain.ts';
import { guarded } from './control.ts';
import { recordOf } from './record-types.ts';
import { makeFunction } from './make-function.ts';
import { elementIn, overList } from './over-list.ts';
import { nameOf } from './transactions.ts';
import { propertyName } from './object-literal.ts';
import { type Completion, normalCompletion, type Machine, type Returned } from './machine.ts';
import { constantOf, truthOf, valueOf } from './value-arithmetic.ts';
import { allOf, compare, computedFrom, either } from './conditions.ts';
import { does } from './tidy-steps.ts';

export function runBlock(machine: Machine, statements: readonly ts.Statement[], scope: Scope): Completion {
  declare(machine, statements, scope);
  const ended: Completion['ended'][number][] = [];
  for (const statement of statements) {
    const completion = runStatement(machine, statement, scope);
    ended.push(...completion.ended);
    if (completion.end !== 'none') return { end: completion.end, ended };
  }
  return { end: 'none', ended };
}

/** Functions and classes can be used before their declaration. */
function declare(machine: Machine, statements: readonly ts.Statement[], scope: Scope): void {
  const { ts, checker } = machine.project;
  if (scope === machine.globals.scope) return;
  for (const statement of statements) {
    if (!ts.isFunctionDeclaration(statement) && !ts.isClassDeclaration(statement)) continue;
    const symbol = statement.name === undefined ? undefined : checker.getSymbolAtLocation(statement.name);
    if (symbol === undefined || (ts.isFunctionDeclaration(statement) && statement.body === undefined)) continue;
    const value: Abstract = ts.isClassDeclaration(statement)
      ? { kind: 'class', node: statement, scope }
      : makeFunction(machine, statement, scope, null);
    scope.cells.set(symbol, { value });
  }
}

function runStatement(machine: Machine, node: ts.Statement, scope: Scope): Completion {
  const { ts } = machine.project;
  const evaluate = (expression: ts.Expression): Abstract => machine.evaluate(expression, scope);
  if (ts.isExpressionStatement(node)) return after(machine, evaluate(node.expression));
  if (ts.isVariableStatement(node)) return declareVariables(machine, node.declarationList, scope);
  if (ts.isReturnStatement(node)) {
    const value = node.expression === undefined ? undefinedValue : result(machine, evaluate(node.expression), node);
    if (value.kind === 'never') return after(machine, value);
    returnNow(machine, value);
    return { end: 'return', ended: [] };
  }
  if (ts.isThrowStatement(node)) {
    evaluate(node.expression);
    return machine.raise();
  }
  if (ts.isIfStatement(node)) {
    const condition = evaluate(node.expression);
    if (condition.kind === 'never') return after(machine, condition);
    return machine.fork(
      truthOf(condition),
      () => runStatement(machine, node.thenStatement, new Scope(scope)),
      () =>
        node.elseStatement === undefined
          ? normalCompletion
          : runStatement(machine, node.elseStatement, new Scope(scope)),
    );
  }
  if (ts.isBlock(node)) return runBlock(machine, node.statements, new Scope(scope));
  if (ts.isTryStatement(node)) return runTry(machine, node, scope);
  if (ts.isSwitchStatement(node)) return runSwitch(machine, node, scope);
  if (ts.isForOfStatement(node)) return runForOf(machine, node, scope);
  if (ts.isForStatement(node) || ts.isWhileStatement(node) || ts.isDoStatement(node) || ts.isForInStatement(node))
    return runLoop(machine, node, scope);
  if (ts.isBreakStatement(node) || ts.isContinueStatement(node)) {
    // It may leave loops in between, too.
    if (node.label !== undefined) machine.emitter.throwInto(0);
    return { end: 'jump', ended: [] };
  }
  if (ts.isLabeledStatement(node)) return runStatement(machine, node.statement, scope);
  if (ts.isExportAssignment(node)) return after(machine, evaluate(node.expression));
  return normalCompletion;
}

/** What a function gives. Of a function that is not async, the caller may add to a statement before it awaits it. */
export function result(machine: Machine, value: Abstract, node: ts.Node): Abstract {
  const { ts } = machine.project;
  if (!isChain(value)) return machine.settle(value, node);
  const fn = ts.findAncestor(node, ts.isFunctionLike);
  const isAsync =
    fn !== undefined &&
    ts.canHaveModifiers(fn) &&
    (ts.getModifiers(fn) ?? []).some(({ kind }) => kind === ts.SyntaxKind.AsyncKeyword);
  return isAsync ? machine.settle(value, node) : value;
}

function after(machine: Machine, value: Abstract): Completion {
  passedOn(machine, value);
  return value.kind === 'never' ? { end: 'throw', ended: [] } : normalCompletion;
}

/** Functions given to code outside the sources, which no code here awaits: a job, a listener. What an open transaction gives away runs in it. */
function passedOn(machine: Machine, value: Abstract): void {
  if (value.kind !== 'external') return;
  for (const fn of value.made ?? []) {
    const reason = `how often ${value.module} calls its function`;
    if (machine.isSetup && machine.emitter.open === null)
      machine.found({
        name: `${value.module === '' ? value.path.join('.') : value.module}: ${functionName(machine, fn)}`,
        node: fn.node,
        functions: [fn],
        kind: 'callback',
      });
    else runSometime(machine, fn, { reason, given: value.given ?? [] }, fn.node);
  }
}

function functionName(machine: Machine, fn: FunctionValue): string {
  const { file, line } = machine.place(fn.node);
  return nameOf(fn.node, machine.project.ts) ?? `${file}:${line}`;
}

function declareVariables(machine: Machine, list: ts.VariableDeclarationList, scope: Scope): Completion {
  if (scope === machine.globals.scope) return evaluateGlobals(machine, list);
  for (const { name, initializer, type } of list.declarations) {
    const declared = initializer === undefined ? undefinedValue : machine.evaluate(initializer, scope);
    if (declared.kind === 'never') return { end: 'throw', ended: [] };
    const typed =
      declared.kind === 'value' && declared.value.kind === 'unknown' ? machine.ofType(type, scope) : undefined;
    machine.bind(name, typed ?? declared, scope);
  }
  return normalCompletion;
}

/** At the top of a file, names are evaluated once, when they are first used. */
function evaluateGlobals(machine: Machine, list: ts.VariableDeclarationList): Completion {
  const { ts } = machine.project;
  const visit = (name: ts.BindingName): void => {
    if (ts.isIdentifier(name)) passedOn(machine, machine.evaluate(name, machine.globals.scope));
    else for (const element of name.elements) if (!ts.isOmittedExpression(element)) visit(element.name);
  };
  for (const { name } of list.declarations) visit(name);
  return normalCompletion;
}

function runTry(machine: Machine, node: ts.TryStatement, scope: Scope): Completion {
  const { catchClause, finallyBlock } = node;
  const handler =
    catchClause === undefined
      ? null
      : (): Completion => {
          const inner = new Scope(scope);
          if (catchClause.variableDeclaration !== undefined)
            machine.bind(catchClause.variableDeclaration.name, unknown('an error'), inner);
          return runBlock(machine, catchClause.block.statements, inner);
        };
  const completion = guarded(machine, () => runBlock(machine, node.tryBlock.statements, new Scope(scope)), handler);
  if (finallyBlock === undefined) return completion;
  const last = runBlock(machine, finallyBlock.statements, new Scope(scope));
  return last.end === 'none' ? completion : last;
}

function runSwitch(machine: Machine, node: ts.SwitchStatement, scope: Scope): Completion {
  const { ts } = machine.project;
  const subject = machine.evaluate(node.expression, scope);
  const inner = new Scope(scope);
  const { clauses } = node.caseBlock;
  const statementsFrom = (index: number): readonly ts.Statement[] =>
    clauses.slice(index).flatMap(({ statements }) => [...statements]);
  const withoutJump = ({ end, ended }: Completion): Completion => ({
    end: end === 'jump' ? 'none' : end,
    ended: ended.filter((one) => one.end !== 'jump'),
  });
  const isSwitchOnTrue = constantOf(subject) === true;
  const clause = (index: number, waiting: Value | null): Completion => {
    const current = clauses[index];
    if (current === undefined) {
      const other = clauses.findIndex(ts.isDefaultClause);
      return other < 0 ? normalCompletion : withoutJump(runBlock(machine, statementsFrom(other), inner));
    }
    if (ts.isDefaultClause(current)) return clause(index + 1, null);
    const label = machine.evaluate(current.expression, inner);
    const one = isSwitchOnTrue ? truthOf(label) : compare('=', valueOf(subject), valueOf(label));
    const condition = waiting === null ? one : either(waiting, one);
    if (
      current.statements.length === 0 &&
      clauses[index + 1] !== undefined &&
      !ts.isDefaultClause(clauses[index + 1] as ts.CaseOrDefaultClause)
    ) {
      return clause(index + 1, condition);
    }
    return machine.fork(
      condition,
      () => withoutJump(runBlock(machine, statementsFrom(index), inner)),
      () => clause(index + 1, null),
    );
  };
  return clause(0, null);
}

function runForOf(machine: Machine, node: ts.ForOfStatement, scope: Scope): Completion {
  const { ts } = machine.project;
  const list = machine.settle(machine.evaluate(node.expression, scope), node);
  const body = (element: Abstract): Completion => {
    const inner = new Scope(scope);
    if (ts.isVariableDeclarationList(node.initializer)) {
      const [declaration] = node.initializer.declarations;
      if (declaration !== undefined) machine.bind(declaration.name, elementIn(list, element), inner);
    }
    return runStatement(machine, node.statement, inner);
  };
  const declared = ts.isVariableDeclarationList(node.initializer) ? node.initializer.declarations[0]?.name : undefined;
  return overList(
    machine,
    list,
    declared !== undefined && ts.isIdentifier(declared) ? declared.text : 'element',
    body,
    node,
  ).completion;
}

function runLoop(
  machine: Machine,
  node: ts.ForStatement | ts.WhileStatement | ts.DoStatement | ts.ForInStatement,
  scope: Scope,
): Completion {
  const { ts } = machine.project;
  const inner = new Scope(scope);
  if (ts.isForStatement(node) && node.initializer !== undefined) {
    if (ts.isVariableDeclarationList(node.initializer)) declareVariables(machine, node.initializer, inner);
    else machine.evaluate(node.initializer, inner);
  }
  const condition = ts.isForStatement(node) ? node.condition : node.expression;
  const reason =
    condition === undefined ? 'a loop without a condition' : `while ${condition.getText().replaceAll(/\s+/g, ' ')}`;
  const body = (element: Abstract): Completion => {
    const each = new Scope(inner);
    if (ts.isForInStatement(node) && ts.isVariableDeclarationList(node.initializer)) {
      for (const { name } of node.initializer.declarations) machine.bind(name, element, each);
    } else if (condition !== undefined) machine.evaluate(condition, each);
    const completion = runStatement(machine, node.statement, each);
    if (ts.isForStatement(node) && node.incrementor !== undefined && completion.end === 'none')
      machine.evaluate(node.incrementor, each);
    return completion;
  };
  return machine.loop('pass', () => computedFrom(reason, [whileValue(machine, condition, inner)]), body, node);
}

/** What the condition of a loop comes to, or what `for ... in` is over. */
function whileValue(machine: Machine, condition: ts.Expression | undefined, scope: Scope): Value {
  if (condition === undefined) return { kind: 'unknown', reason: 'a loop without a condition' };
  const trial = machine.emitter.apart(() => machine.memory.during(() => valueOf(machine.evaluate(condition, scope))));
  return trial.steps.some(does) ? { kind: 'unknown', reason: 'a condition that reads' } : trial.result.result;
}

/** Gives names to the parts of a value: a parameter, a declaration. */
export function bind(machine: Machine, name: ts.BindingName, value: Abstract, scope: Scope): void {
  const { ts, checker } = machine.project;
  if (ts.isIdentifier(name)) {
    const symbol = checker.getSymbolAtLocation(name);
    if (symbol !== undefined) scope.cells.set(symbol, { value });
    return;
  }
  const taken = new Set<string>();
  name.elements.forEach((element, index) => {
    if (ts.isOmittedExpression(element)) return;
    const part = partOf(machine, name, element, index, value, scope, taken);
    const given =
      part.kind === 'undefined' && element.initializer !== undefined
        ? machine.evaluate(element.initializer, scope)
        : part;
    bind(machine, element.name, given, scope);
  });
}

function partOf(
  machine: Machine,
  pattern: ts.BindingPattern,
  element: ts.BindingElement,
  index: number,
  value: Abstract,
  scope: Scope,
  taken: Set<string>,
): Abstract {
  const { ts } = machine.project;
  if (ts.isArrayBindingPattern(pattern)) {
    if (element.dotDotDotToken === undefined) return machine.member(value, String(index), element);
    return value.kind === 'array' ? arrayOf(value.elements.value.slice(index)) : unknown('the rest of a list');
  }
  if (element.dotDotDotToken !== undefined) {
    if (value.kind !== 'object') return value;
    const rest = [...value.properties]
      .filter(([key]) => !taken.has(key))
      .map(([key, cell]): [string, Abstract] => [key, cell.value]);
    return { ...objectOf(Object.fromEntries(rest)), rest: value.rest };
  }
  const key =
    element.propertyName === undefined ? element.name.getText() : propertyName(machine, element.propertyName, scope);
  if (key === undefined) return unknown('a property with a computed name');
  taken.add(key);
  return machine.member(value, key, element);
}

/** Binds the parameters of a function. What is not passed is `undefined`, or what its type says. */
export function bindParameters(machine: Machine, node: FunctionNode, args: readonly Abstract[], scope: Scope): void {
  node.parameters.forEach(({ name, initializer, dotDotDotToken, questionToken, type }, index) => {
    if (dotDotDotToken !== undefined) return bind(machine, name, arrayOf(args.slice(index)), scope);
    let value = args[index] ?? undefinedValue;
    if (value.kind === 'undefined' && initializer !== undefined) value = machine.evaluate(initializer, scope);
    const isOpaque = value.kind === 'value' && (value.value.kind === 'unknown' || value.value.kind === 'argument');
    const typed = isOpaque ? machine.ofType(type, scope) : undefined;
    const isHandle = typed !== undefined && holdsHandle(typed);
    const record = type === undefined || questionToken !== undefined ? undefined : recordOf(machine, value, type, name);
    bind(machine, name, isHandle ? typed : (record ?? value), scope);
  });
}

/** A driver's handle, or an object with one in it: its type says more than that it is an argument. */
function holdsHandle(value: Abstract, depth = 0): boolean {
  if (value.kind === 'native') return value.isHandle;
  return (
    value.kind === 'object' &&
    depth < 4 &&
    [...value.properties.values()].some((cell) => holdsHandle(cell.value, depth + 1))
  );
}

/** The path ends in the function that runs. */
export function returnNow(machine: Machine, value: Abstract): void {
  const frame = machine.frames.at(-1);
  frame?.returns.push({ path: machine.emitter.path, value, writes: machine.memory.writtenSince(frame.depth) });
}

/** What each path of a function gives, under the path's conditions. @param from the length of the path before it */
export function onPaths<Of>(
  returns: readonly Returned[],
  from: number,
  of: (one: Returned) => Of,
  choose: (condition: Value, a: Of, b: Of) => Of,
): Of | undefined {
  const last = returns.at(-1);
  if (last === undefined) return undefined;
  return returns.slice(0, -1).reduceRight((rest, one) => choose(conditionOf(one, from), of(one), rest), of(last));
}

/** Asked for each variable that the function wrote. */
const conditions = new WeakMap<Returned, Value>();

function conditionOf(one: Returned, from: number): Value {
  const condition = conditions.get(one) ?? allOf(one.path.slice(from));
  conditions.set(one, condition);
  return condition;
}
