/** Evaluates the expressions of the analysed source. */
import type ts from 'typescript';
import type { Value } from '../application.ts';
import {
  type Abstract,
  type Choice,
  arrayOf,
  constant,
  fromOutside,
  never,
  plain,
  type Scope,
  undefinedValue,
  unknown,
  endsOf,
} from './abstract-value.ts';
import { isChain } from './builders/chain.ts';
import { anyName, setAnyProperty, setElement, setProperty, withAttached } from './attached.ts';
import { guarded } from './control.ts';
import { type Completion, normalCompletion, type Machine } from './machine.ts';
import { makeFunction } from './make-function.ts';
import { evaluateIdentifier } from './names.ts';
import { objectLiteral } from './object-literal.ts';
import { choose, concatenate, constantOf, isNothing, truthOf, valueOf } from './value-arithmetic.ts';
import { compare, computedFrom, either, expression, isConstant, not, allOf } from './conditions.ts';

export function evaluate(machine: Machine, node: ts.Expression, scope: Scope): Abstract {
  const { ts } = machine.project;
  const inner = (other: ts.Expression): Abstract => machine.evaluate(other, scope);
  if (
    ts.isParenthesizedExpression(node) ||
    ts.isAsExpression(node) ||
    ts.isNonNullExpression(node) ||
    ts.isSatisfiesExpression(node) ||
    ts.isTypeAssertionExpression(node)
  ) {
    return inner(node.expression);
  }
  if (ts.isAwaitExpression(node)) return machine.settle(inner(node.expression), node);
  if (ts.isIdentifier(node)) return evaluateIdentifier(machine, node, scope);
  if (ts.isPropertyAccessExpression(node)) {
    const object = inner(node.expression);
    const found = machine.member(object, node.name.text, node);
    const isOptional = node.questionDotToken !== undefined && !ts.isCallExpression(node.parent);
    return isOptional ? whereThere(object, found) : found;
  }
  if (ts.isElementAccessExpression(node))
    return elementOf(machine, inner(node.expression), inner(node.argumentExpression), node);
  if (ts.isCallExpression(node)) return evaluateCall(machine, node, scope);
  if (ts.isNewExpression(node))
    return machine.construct(inner(node.expression), argumentsOf(machine, node.arguments, scope), node);
  if (ts.isStringLiteralLike(node)) return constant(node.text);
  if (ts.isTemplateExpression(node)) {
    return concatenate([
      constant(node.head.text),
      ...node.templateSpans.flatMap((span) => [inner(span.expression), constant(span.literal.text)]),
    ]);
  }
  if (ts.isTaggedTemplateExpression(node)) return evaluateTagged(machine, node, scope);
  if (ts.isNumericLiteral(node)) return constant(Number(node.text));
  if (ts.isBigIntLiteral(node)) return constant(Number(node.text.slice(0, -1)));
  if (ts.isArrowFunction(node) || ts.isFunctionExpression(node)) return makeFunction(machine, node, scope);
  if (ts.isClassExpression(node)) return { kind: 'class', node, scope };
  if (ts.isObjectLiteralExpression(node)) return objectLiteral(machine, node, scope);
  if (ts.isArrayLiteralExpression(node)) return arrayOf(argumentsOf(machine, node.elements, scope));
  if (ts.isBinaryExpression(node)) return evaluateBinary(machine, node, scope);
  if (ts.isPrefixUnaryExpression(node)) return prefix(machine, node, scope);
  if (ts.isPostfixUnaryExpression(node)) {
    const before = inner(node.operand);
    const operator = node.operator === ts.SyntaxKind.PlusPlusToken ? '+' : '-';
    assign(machine, node.operand, plain(arithmetic(operator, valueOf(before), { kind: 'constant', value: 1 })), scope);
    return before;
  }
  if (ts.isConditionalExpression(node)) {
    return branching(
      machine,
      truthOf(inner(node.condition)),
      () => inner(node.whenTrue),
      () => inner(node.whenFalse),
    );
  }
  if (ts.isVoidExpression(node) || ts.isDeleteExpression(node)) {
    inner(node.expression);
    return undefinedValue;
  }
  if (ts.isRegularExpressionLiteral(node)) return fromOutside('a regular expression');
  if (ts.isTypeOfExpression(node)) return plain(expression('typeof', valueOf(inner(node.expression))));
  if (ts.isYieldExpression(node))
    return node.expression === undefined ? undefinedValue : machine.settle(inner(node.expression), node);
  return keyword(machine, node, scope);
}

/** `row?.total` is undefined where there is no row; `row.total` throws there. */
function whereThere(object: Abstract, found: Abstract): Abstract {
  if (object.kind === 'row') return choose(truthOf(object), found, undefinedValue);
  if (object.kind !== 'choice') return found;
  if (isNothing(object.ifFalse)) return choose(object.condition, found, undefinedValue);
  return isNothing(object.ifTrue) ? choose(object.condition, undefinedValue, found) : found;
}

function keyword(machine: Machine, node: ts.Expression, scope: Scope): Abstract {
  const { SyntaxKind } = machine.project.ts;
  switch (node.kind) {
    case SyntaxKind.TrueKeyword:
      return constant(true);
    case SyntaxKind.FalseKeyword:
      return constant(false);
    case SyntaxKind.NullKeyword:
      return constant(null);
    case SyntaxKind.ThisKeyword:
    case SyntaxKind.SuperKeyword:
      return scope.self ?? unknown('this');
    default:
      return unknown(`what \`${oneLine(node.getText())}\` gives`);
  }
}

export function oneLine(text: string): string {
  const short = text.replaceAll(/\s+/g, ' ');
  return short.length > 60 ? `${short.slice(0, 57)}...` : short;
}

/** Evaluates both sides, each in its branch. */
function branching(machine: Machine, condition: Value, ifTrue: () => Abstract, ifFalse: () => Abstract): Abstract {
  let [a, b]: [Abstract, Abstract] = [{ kind: 'never' }, { kind: 'never' }];
  machine.fork(
    condition,
    () => completionOf((a = ifTrue())),
    () => completionOf((b = ifFalse())),
  );
  return choose(condition, a, b);
}

function completionOf({ kind }: Abstract): Completion {
  return kind === 'never' ? { end: 'throw', ended: [] } : normalCompletion;
}

function evaluateCall(machine: Machine, node: ts.CallExpression, scope: Scope): Abstract {
  const { ts } = machine.project;
  if (
    node.expression.kind === ts.SyntaxKind.ImportKeyword ||
    (ts.isIdentifier(node.expression) && node.expression.text === 'require')
  ) {
    const [name] = node.arguments;
    if (name !== undefined && ts.isStringLiteralLike(name))
      return machine.external({
        kind: 'external',
        module: name.text,
        path: ['#require', node.getSourceFile().fileName],
      });
  }
  if (node.expression.kind === ts.SyntaxKind.SuperKeyword) return undefinedValue;
  const caught = caughtCall(machine, node);
  if (caught !== undefined) return evaluateCatch(machine, node, caught, scope);
  const callee = machine.evaluate(node.expression, scope);
  if (callee.kind === 'never') return callee;
  const args = argumentsOf(machine, node.arguments, scope);
  if (node.questionDotToken !== undefined && isNothing(callee)) return undefinedValue;
  return args.find(({ kind }) => kind === 'never') ?? machine.call(callee, args, node);
}

/** `run()` in `run().catch((error) => ...)`. */
function caughtCall(
  { project: { ts } }: Machine,
  { expression: callee, arguments: args }: ts.CallExpression,
): ts.CallExpression | undefined {
  if (args.length !== 1 || !ts.isPropertyAccessExpression(callee) || callee.name.text !== 'catch') return undefined;
  return ts.isCallExpression(callee.expression) ? callee.expression : undefined;
}

/** As `try`: what the functions before it throw reaches its function. */
function evaluateCatch(machine: Machine, node: ts.CallExpression, before: ts.CallExpression, scope: Scope): Abstract {
  let [value, caught]: [Abstract, Abstract] = [never, never];
  guarded(
    machine,
    () => completionOf((value = machine.settle(machine.evaluate(before, scope), node))),
    () => {
      const [fn] = argumentsOf(machine, node.arguments, scope);
      caught = machine.settle(machine.call(fn ?? undefinedValue, [unknown('an error')], node), node);
      return completionOf(caught);
    },
  );
  return value.kind === 'never' ? caught : value;
}

function argumentsOf(machine: Machine, nodes: readonly ts.Expression[] | undefined, scope: Scope): readonly Abstract[] {
  return (nodes ?? []).flatMap((node): readonly Abstract[] => {
    if (!machine.project.ts.isSpreadElement(node)) return [machine.evaluate(node, scope)];
    const list = machine.settle(machine.evaluate(node.expression, scope), node);
    return list.kind === 'array' ? list.elements.value : [plain(expression('...', valueOf(list)))];
  });
}

function evaluateTagged(machine: Machine, node: ts.TaggedTemplateExpression, scope: Scope): Abstract {
  const { ts } = machine.project;
  const tag = machine.evaluate(node.tag, scope);
  const { template } = node;
  const texts = ts.isTemplateExpression(template)
    ? [template.head.text, ...template.templateSpans.map(({ literal }) => literal.text)]
    : [template.text];
  const holes = ts.isTemplateExpression(template)
    ? template.templateSpans.map((span) => machine.evaluate(span.expression, scope))
    : [];
  const resolved = tag.kind === 'external' ? machine.external(tag) : tag;
  const known = machine.textTag(resolved, texts, node) ?? resolved;
  if (known.kind === 'native' && known.tag !== undefined) return known.tag(texts, holes, node);
  if (holes.length === 0) return constant(texts[0] ?? '');
  return concatenate(texts.flatMap((text, index) => [constant(text), ...holes.slice(index, index + 1)]));
}

function elementOf(machine: Machine, list: Abstract, index: Abstract, at: ts.Node): Abstract {
  const key = constantOf(index);
  if (key !== undefined) return machine.member(list, String(key), at);
  if (index.kind === 'choice' && [index.ifTrue, index.ifFalse].every((side) => constantOf(side) !== undefined))
    return choose(
      index.condition,
      elementOf(machine, list, index.ifTrue, at),
      elementOf(machine, list, index.ifFalse, at),
    );
  // A method of a query may add any clause.
  if (isChain(list)) return machine.member(list, oneLine(at.getText()), at);
  const one = oneFunctionOf(list, at);
  if (one !== undefined) return one;
  const found =
    list.kind === 'value' && list.value.kind !== 'unknown'
      ? plain(expression('element', list.value, valueOf(index)))
      : plain(computedFrom(`what \`${oneLine(at.getText())}\` gives`, [valueOf(list), valueOf(index)]));
  return withAttached(machine, found, anyName);
}

/** Any of the functions of a table or a list, `jobs[name]`: a call follows each. */
function oneFunctionOf(list: Abstract, at: ts.Node): Abstract | undefined {
  const isTable = list.kind === 'object' && list.of === null && list.rest === null;
  if (!isTable && list.kind !== 'array') return undefined;
  const values = list.kind === 'array' ? list.elements.value : [...list.properties.values()].map(({ value }) => value);
  if (!values.some(({ kind }) => kind === 'function')) return undefined;
  return values.reduceRight((others, value) =>
    choose({ kind: 'unknown', reason: `which one \`${oneLine(at.getText())}\` is` }, value, others),
  );
}

function prefix(machine: Machine, node: ts.PrefixUnaryExpression, scope: Scope): Abstract {
  const { SyntaxKind } = machine.project.ts;
  const operand = machine.evaluate(node.operand, scope);
  switch (node.operator) {
    case SyntaxKind.ExclamationToken:
      return plain(not(truthOf(operand)));
    case SyntaxKind.PlusToken:
      return operand;
    case SyntaxKind.MinusToken:
      return plain(arithmetic('-', { kind: 'constant', value: 0 }, valueOf(operand)));
    case SyntaxKind.PlusPlusToken:
    case SyntaxKind.MinusMinusToken: {
      const operator = node.operator === SyntaxKind.PlusPlusToken ? '+' : '-';
      const value = plain(arithmetic(operator, valueOf(operand), { kind: 'constant', value: 1 }));
      assign(machine, node.operand, value, scope);
      return value;
    }
    case SyntaxKind.TildeToken:
      return plain(expression('~', valueOf(operand)));
  }
}

function arithmetic(operator: string, left: Value, right: Value): Value {
  if (
    left.kind === 'constant' &&
    right.kind === 'constant' &&
    typeof left.value === 'number' &&
    typeof right.value === 'number'
  ) {
    const [a, b] = [left.value, right.value];
    const results: Readonly<Record<string, number>> = { '+': a + b, '-': a - b, '*': a * b, '/': a / b, '%': a % b };
    const folded = results[operator];
    if (folded !== undefined && Number.isFinite(folded)) return { kind: 'constant', value: folded };
  }
  return expression(operator, left, right);
}

const comparisons: Readonly<Record<string, string>> = {
  '===': '=',
  '==': '=',
  '!==': '<>',
  '!=': '<>',
  '<': '<',
  '<=': '<=',
  '>': '>',
  '>=': '>=',
};

function evaluateBinary(machine: Machine, node: ts.BinaryExpression, scope: Scope): Abstract {
  const operator = node.operatorToken.getText();
  const inner = (other: ts.Expression): Abstract => machine.evaluate(other, scope);
  if (operator === '=') return assign(machine, node.left, inner(node.right), scope);
  if (/^(?:&&|\|\||\?\?)$/.test(operator)) return logical(machine, operator, inner(node.left), () => inner(node.right));
  if (/^(?:&&|\|\||\?\?)=$/.test(operator)) {
    return assign(
      machine,
      node.left,
      logical(machine, operator.slice(0, -1), inner(node.left), () => inner(node.right)),
      scope,
    );
  }
  const [left, right] = [inner(node.left), inner(node.right)];
  if (operator === ',') return right;
  if (left.kind === 'never' || right.kind === 'never') return { kind: 'never' };
  const comparison = comparisons[operator];
  const loose = looselyEqual(operator, left, right);
  if (loose !== undefined) return constant(loose);
  if (comparison !== undefined) return plain(comparing(comparison, left, right));
  if (/^[-+*/%]=?$/.test(operator)) {
    const sign = operator[0] as string;
    const value =
      sign === '+' && (isText(left) || isText(right))
        ? concatenate([left, right])
        : plain(arithmetic(sign, valueOf(left), valueOf(right)));
    return operator.length > 1 ? assign(machine, node.left, value, scope) : value;
  }
  if (operator === 'instanceof') return unknown('the class of an object');
  return plain(expression(operator, valueOf(left), valueOf(right)));
}

/** `'1' == 1` of constants, as JavaScript has it. */
function looselyEqual(operator: string, left: Abstract, right: Abstract): boolean | undefined {
  const [a, b] = [constantOf(left), constantOf(right)];
  if (!/^[!=]=$/.test(operator) || a === undefined || b === undefined || typeof a === typeof b) return undefined;
  // oxlint-disable-next-line eqeqeq -- what the source does
  return operator === '==' ? a == b : a != b;
}

function isText(abstract: Abstract): boolean {
  return [...endsOf(abstract)].some((end) => end.kind === 'value' && isTextValue(end.value));
}

function isTextValue(value: Value): boolean {
  if (value.kind === 'constant') return typeof value.value === 'string';
  return value.kind === 'expression' && value.operator === '||' && value.operands.some(isTextValue);
}

function comparing(operator: string, left: Abstract, right: Abstract): Value {
  const isEquality = operator === '=' || operator === '<>';
  if (isEquality && (isNothing(left) || isNothing(right))) {
    const isNull = nullness(isNothing(right) ? left : right);
    return operator === '=' ? isNull : not(isNull);
  }
  return compare(operator, valueOf(left), valueOf(right));
}

/** Of choices within choices, which share their sides. */
const nullnesses = new WeakMap<Choice, Value>();

function nullness(abstract: Abstract): Value {
  if (isNothing(abstract)) return { kind: 'constant', value: true };
  if (abstract.kind === 'row') return not(truthOf(abstract));
  if (abstract.kind === 'choice') {
    const known = nullnesses.get(abstract);
    if (known !== undefined) return known;
    const [a, b] = [nullness(abstract.ifTrue), nullness(abstract.ifFalse)];
    const isNull = either(allOf([abstract.condition, a]), allOf([not(abstract.condition), b]));
    nullnesses.set(abstract, isNull);
    return isNull;
  }
  // `globalThis.client`, and what a function outside the sources gives.
  const isOpen = abstract.kind === 'external' && (abstract.module === '' || abstract.path.includes('()'));
  if (isOpen) return expression('is null', valueOf(abstract));
  if (abstract.kind !== 'value') return { kind: 'constant', value: false };
  if (abstract.value.kind === 'constant' || abstract.value.kind === 'row-count')
    return { kind: 'constant', value: false };
  return expression('is null', abstract.value);
}

function logical(machine: Machine, operator: string, left: Abstract, right: () => Abstract): Abstract {
  const truth = operator === '??' ? not(nullness(left)) : truthOf(left);
  if (operator === '&&') {
    if (left.kind === 'value' && !isConstant(truth, true) && !isConstant(truth, false)) {
      const value = branching(machine, truth, right, () => left);
      return value.kind === 'choice' && value.ifTrue.kind === 'value'
        ? plain(allOf([truth, truthOf(value.ifTrue)]))
        : value;
    }
    return branching(machine, truth, right, () => left);
  }
  const value = branching(machine, truth, () => left, right);
  // `globalThis.client ?? new Client()`
  if (value.kind === 'choice' && value.ifFalse.kind === 'native' && value.ifFalse.isHandle && !isHandle(value.ifTrue))
    return value.ifFalse;
  if (operator === '||' && value.kind === 'choice' && isCondition(truth) && left.kind === 'value') {
    return plain(either(truth, truthOf(value.ifFalse)));
  }
  return value;
}

function isHandle(value: Abstract): boolean {
  return value.kind === 'native' && value.isHandle;
}

function isCondition(value: Value): boolean {
  return value.kind === 'expression' && /^(?:=|<>|<|<=|>|>=|and|or|not|is null)$/.test(value.operator);
}

/** A variable of a file: the unit reads what it wrote, and another one finds it where it was not set before. */
function assignGlobal(machine: Machine, symbol: ts.Symbol, value: Abstract): void {
  machine.evaluateSymbol(symbol);
  const cell = machine.globals.cellOf(symbol);
  if (cell !== undefined) machine.memory.write(cell, value);
  machine.globals.assign(symbol, value);
}

/** Writes a variable, a property, or the parts of a pattern. */
function assign(machine: Machine, target: ts.Expression, value: Abstract, scope: Scope): Abstract {
  const { ts, checker } = machine.project;
  if (ts.isIdentifier(target)) {
    const symbol = checker.getSymbolAtLocation(target);
    const cell = symbol === undefined ? undefined : scope.find(symbol);
    if (cell !== undefined) machine.memory.write(cell, value);
    else if (symbol !== undefined) assignGlobal(machine, symbol, value);
  } else if (ts.isPropertyAccessExpression(target)) {
    setProperty(machine, machine.evaluate(target.expression, scope), target.name.text, value, target);
  } else if (ts.isElementAccessExpression(target)) {
    const owner = machine.evaluate(target.expression, scope);
    const name = constantOf(machine.evaluate(target.argumentExpression, scope));
    if (owner.kind === 'array') setElement(machine, owner, name, value);
    else if (name === undefined) setAnyProperty(machine, owner, value, target);
    else setProperty(machine, owner, String(name), value, target);
  } else if (ts.isArrayLiteralExpression(target)) {
    target.elements.forEach((element, index) => {
      if (!ts.isOmittedExpression(element))
        assign(machine, element, machine.member(value, String(index), element), scope);
    });
  } else if (ts.isObjectLiteralExpression(target)) {
    for (const property of target.properties) {
      if (ts.isShorthandPropertyAssignment(property))
        assign(machine, property.name, machine.member(value, property.name.text, property), scope);
      else if (ts.isPropertyAssignment(property))
        assign(machine, property.initializer, machine.member(value, property.name.getText(), property), scope);
    }
  }
  return value;
}
