# A title
# How to read it.
set encoding utf8
set terminal pdfcairo noenhanced size 3.5in,2.75in font 'Helvetica,8' fontscale 0.75 linewidth 1.5
set output 'band.pdf'

$data << EOD
# series 0: measured, one
1 1 0.9 1.1 # 3 runs
2 0.5 NaN NaN


# series 1: simulated, two
1 0.8 0.7 0.9
EOD

set border 3 linewidth 1 linecolor rgb '#333333'
set tics nomirror out scale 0.5
set grid ytics linetype 1 linecolor rgb '#dddddd' linewidth 0.5
set format y '%g'
set yrange [0.47:1.13]
set format x '%g'
set xrange [1:2]
set xtics 0.2
set xlabel 'nodes'
set ylabel 'efficiency'
set tmargin at screen 0.8313
set label 1 'A title' at screen 0.5, screen 0.9578 center
set key at screen 0.5, screen 0.9209 center top vertical maxrows 1 Left reverse samplen 3 spacing 1.1 width -0
set style line 1 linecolor rgb '#000000' linewidth 1.8 dashtype solid pointtype 7 pointsize 0.7
set style line 2 linecolor rgb '#8c8c8c' linewidth 1.8 dashtype (6,4) pointtype 4 pointsize 0.7
set style fill noborder
set errorbars 0.6
set pointintervalbox 0.8
plot \
  $data index 0 using 1:3:4 with filledcurves linecolor rgb '#000000' fillstyle transparent solid 0.2 noborder notitle, \
  $data index 1 using 1:3:4 with filledcurves linecolor rgb '#8c8c8c' fillstyle transparent solid 0.2 noborder notitle, \
  $data index 0 using 1:2 with linespoints linestyle 1 pointinterval 1 title 'one', \
  $data index 1 using 1:2 with linespoints linestyle 2 pointinterval -1 title 'two'
