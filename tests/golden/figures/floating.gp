# A title
# How to read it.
set encoding utf8
set terminal pdfcairo noenhanced size 7.16in,3.1in font 'Helvetica,8' fontscale 0.75 linewidth 1.5
set output 'floating.pdf'

$data << EOD
# series 0: measured, one
1 1 0.9 1.1 0.9 1.1 # b: 3 runs
2 0.5 NaN NaN NaN NaN # a long name of a category, 16 ranks on 4 nodes


# series 1: simulated, two
1 0.8 0.7 0.9 0.7 0.9 # b
EOD

set border 3 linewidth 1 linecolor rgb '#333333'
set tics nomirror out scale 0.5
set grid ytics linetype 1 linecolor rgb '#dddddd' linewidth 0.5
set format y '%g'
set yrange [0.68:1.12]
set xrange [-0.6:2.6]
set xtics ('a' 0, 'b' 1, 'a long name of a category,'."\n".'16 ranks on 4 nodes' 2) scale 0
set ylabel 'efficiency'
set tmargin at screen 0.9065
set key at screen 0.5, screen 0.9860 center top vertical maxrows 1 Left reverse samplen 1 spacing 1.1 width -0
set style line 1 linecolor rgb '#0072b2' linewidth 1.8 dashtype solid pointtype 7 pointsize 0.7
set style line 2 linecolor rgb '#d55e00' linewidth 1.8 dashtype (6,4) pointtype 4 pointsize 0.7
set style fill noborder
set errorbars 0.6
set pointintervalbox 0.8
plot \
  $data index 0 using 1:6:($1-0.38):($1+0.38):5:6 with boxxyerror linecolor rgb '#0072b2' linewidth 1 dashtype solid fillstyle solid 1 border linecolor rgb '#0072b2' title 'one', \
  $data index 1 using 1:6:($1-0.38):($1+0.38):5:6 with boxxyerror linecolor rgb '#d55e00' linewidth 1 dashtype (6,4) fillstyle pattern 4 border linecolor rgb '#d55e00' title 'two'
