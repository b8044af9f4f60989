import { h, type Tree } from './tree.ts';

/** A choice of one among a few, beside each other. Radio buttons, so that every key works as readers expect. */
export function tabsView<Value extends string>(
  choices: Readonly<Record<Value, string>>,
  {
    name,
    legend,
    chosen,
    disabled = false,
    choose,
  }: {
    /** Of the group; the inputs are called `<name>-<value>`. */
    readonly name: string;
    readonly legend: string;
    readonly chosen: Value;
    readonly disabled?: boolean;
    /** Absent where the style sheet alone shows what the choice changes. */
    readonly choose?: (value: Value) => void;
  },
): Tree {
  const values = Object.keys(choices) as Value[];
  return h(
    'fieldset',
    { class: 'tabs', disabled },
    h('legend', { class: 'hide' }, legend),
    values.map((value) =>
      h(
        'label',
        {},
        h('input', {
          type: 'radio',
          name,
          id: `${name}-${value}`,
          value,
          checked: value === chosen,
          change: choose && (() => choose(value)),
        }),
        h('span', {}, choices[value]),
      ),
    ),
  );
}
