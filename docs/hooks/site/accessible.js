// What axe-core misses in what the theme's script makes: names for the buttons of each listing, and a way for the keyboard into
// listings and tables that scroll (WCAG 2.2, success criteria 1.3.1 and 2.1.1).
"use strict";

const mend = () => {
  document.querySelectorAll(".md-code__nav:not([aria-label])").forEach((each) => {
    each.setAttribute("aria-label", `Buttons of ${each.parentElement.id.replace("__code_", "listing ")}`);
  });
  document.querySelectorAll(".md-typeset__scrollwrap:not([tabindex]), pre > code:not([tabindex])").forEach((each) => {
    each.tabIndex = 0;
  });
};

mend();
new MutationObserver(mend).observe(document.body, { childList: true, subtree: true });
