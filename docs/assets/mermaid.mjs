// Draws the pictures of the built pages, as GitHub does. Without a network their source is shown.
import mermaid from "https://cdn.jsdelivr.net/npm/mermaid@11/dist/mermaid.esm.min.mjs";

for (const picture of document.querySelectorAll("pre.mermaid")) {
  picture.textContent = picture.textContent; // without the <code> around it
}
mermaid.initialize({ startOnLoad: false });
await mermaid.run({ querySelector: "pre.mermaid" });
