import type { FormEvent } from 'react';

/** Does what a form is for, without leaving the page. */
export function onSubmit(act: () => unknown) {
  return (event: FormEvent) => {
    event.preventDefault();
    event.stopPropagation();
    void act();
  };
}
