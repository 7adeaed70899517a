# A title
# How to read it.
set encoding utf8
set terminal pdfcairo noenhanced size 3.5in,2.05in font 'Helvetica,8' fontscale 0.75 linewidth 1.5
set output 'bar.pdf'

$data << EOD
# series 0: measured, one
1 1 0.9 1.1 0 1 # b: 3 runs
2 0.5 NaN NaN 0 0.5 # a long name of a category, 16 ranks on 4 nodes


# series 1: simulated, two
1 0.8 0.7 0.9 1 1.8 # b
EOD

set border 3 linewidth 1 linecolor rgb '#333333'
set tics nomirror out scale 0.5
set grid xtics linetype 1 linecolor rgb '#dddddd' linewidth 0.5
set format x '%g'
set xrange [0.5:2]
set xtics 0.5
set yrange [2.6:-0.6]
set ytics ('a' 0, 'b' 1, 'a long name of a'."\n".'category, 16'."\n".'ranks on 4 nodes' 2) scale 0
set xlabel 'efficiency'
set tmargin at screen 0.8585
set key at screen 0.5, screen 0.9788 center top vertical maxrows 1 Left reverse samplen 1 spacing 1.1 width -0
set style line 1 linecolor rgb '#0072b2' linewidth 1.8 dashtype solid pointtype 7 pointsize 0.7
set style line 2 linecolor rgb '#d55e00' linewidth 1.8 dashtype (6,4) pointtype 4 pointsize 0.7
set style fill noborder
set errorbars 0.6
set pointintervalbox 0.8
plot \
  $data index 0 using 6:1:5:6:($1-0.38):($1+0.38) with boxxyerror linecolor rgb '#0072b2' linewidth 1 dashtype solid fillstyle solid 1 border linecolor rgb '#0072b2' title 'one', \
  $data index 0 using 3:1:($4-$3):(0) with vectors heads size screen 0.008,90 linecolor rgb '#000000' linewidth 1 notitle, \
  $data index 1 using 6:1:5:6:($1-0.38):($1+0.38) with boxxyerror linecolor rgb '#d55e00' linewidth 1 dashtype (6,4) fillstyle pattern 4 border linecolor rgb '#d55e00' title 'two', \
  $data index 1 using 3:1:($4-$3):(0) with vectors heads size screen 0.008,90 linecolor rgb '#000000' linewidth 1 notitle
