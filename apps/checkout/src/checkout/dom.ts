import { type PageElement as Described, flatten, type Tree } from './tree.ts';

const svgNames = new Set(['svg', 'path', 'use']);

/**
 * Updates an element's content to match a tree. Existing nodes are changed, not replaced, so that focus, typed text and
 * open details stay. Nothing is ever parsed as HTML.
 */
export function show(parent: Element, tree: Tree): void {
  const wanted = flatten(tree);
  let next: ChildNode | null = parent.firstChild;
  for (const [index, item] of wanted.entries()) {
    // What is wanted no more goes first, so that what follows it is found again, with the focus in it.
    const isWanted = (node: ChildNode) => wanted.slice(index).some((each) => fits(node, each));
    while (next !== null && !isWanted(next)) next = removeNode(next);
    const found = next !== null && fits(next, item) ? next : make(item);
    if (found === next) next = next.nextSibling;
    else parent.insertBefore(found, next);
    update(found, item);
  }
  while (next !== null) next = removeNode(next);
}

/** Removes a node, and returns the one after it. */
function removeNode(node: ChildNode): ChildNode | null {
  const after = node.nextSibling;
  node.remove();
  return after;
}

function fits(node: ChildNode, item: Described | string): boolean {
  if (typeof item === 'string') return node instanceof Text;
  return node instanceof Element && node.localName === item.tag && node.id === (item.attributes['id'] ?? '');
}

function make(item: Described | string): ChildNode {
  if (typeof item === 'string') return document.createTextNode(item);
  return svgNames.has(item.tag)
    ? document.createElementNS('http://www.w3.org/2000/svg', item.tag)
    : document.createElement(item.tag);
}

function update(node: ChildNode, item: Described | string): void {
  if (typeof item === 'string') {
    if (node.textContent !== item) node.textContent = item;
    return;
  }
  if (!(node instanceof Element)) return;
  updateAttributes(node, item.attributes);
  // Without a listener the choice is the reader's alone.
  if (item.on !== undefined && node instanceof HTMLInputElement && node.type === 'radio')
    node.checked = 'checked' in item.attributes;
  // Elements of one tag and id listen to the same events throughout.
  Object.assign(node, item.on);
  show(node, item.children);
}

function updateAttributes(element: Element, wanted: Described['attributes']): void {
  for (const name of element.getAttributeNames()) {
    // The reader decides whether details are open.
    if (!(name in wanted) && name !== 'open') element.removeAttribute(name);
  }
  for (const [name, value] of Object.entries(wanted))
    if (element.getAttribute(name) !== value) element.setAttribute(name, value);
}

/** A field of the page, while it is there. */
export const fieldOf = (id: string) => document.querySelector<HTMLInputElement>(`#${id}`);

/** An element that the page must have; its absence is a bug. */
export function elementOf(id: string): HTMLElement {
  const found = document.getElementById(id);
  if (found === null) throw new Error(id);
  return found;
}
