const mark = 'cutText';

/** Shows the whole of a text that is cut off at the end of its line, on hover. The page has one of these. */
export function showCutTexts(): void {
  document.addEventListener('pointerover', ({ target }) => {
    const cut = target instanceof Element ? target.closest<HTMLElement>('.truncate') : null;
    if (cut === null) return;
    const isCut = cut.scrollWidth > cut.clientWidth;
    if (isCut && (cut.title === '' || mark in cut.dataset)) {
      cut.title = cut.textContent;
      cut.dataset[mark] = '';
    } else if (!isCut && mark in cut.dataset) {
      cut.removeAttribute('title');
      delete cut.dataset[mark];
    }
  });
}
