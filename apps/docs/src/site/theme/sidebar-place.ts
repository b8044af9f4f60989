import { useRoute } from 'vitepress';
import { nextTick, onMounted, watch } from 'vue';

/** Scrolls the sidebar to the page that is read: it is longer than a screen, and the theme leaves it at its beginning. */
export function showPlaceInSidebar(): void {
  const route = useRoute();
  onMounted(scrollToPlace);
  watch(() => route.path, scrollToPlace);
}

async function scrollToPlace(): Promise<void> {
  await nextTick();
  const sidebar = document.querySelector('.VPSidebar');
  const link = sidebar?.querySelector('.is-link.is-active');
  if (!sidebar || !link) return;
  const [all, own] = [sidebar.getBoundingClientRect(), link.getBoundingClientRect()];
  if (own.top >= all.top && own.bottom <= all.bottom) return;
  sidebar.scrollTop += own.top - all.top - all.height / 2;
}
