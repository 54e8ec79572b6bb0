"""What a figure is drawn as."""

import altair as alt

Chart = alt.Chart | alt.LayerChart | alt.FacetChart | alt.VConcatChart | alt.HConcatChart
